/** The few pictures of the shell, drawn in lines on a grid of 24. */

import { h } from "./dom.js";

const PATHS = {
  overview: "M4 19V9m5 10V5m5 14v-7m5 7V8",
  brokers: "M4 5h16v5H4zM4 14h16v5H4zM7.5 7.5h.01M7.5 16.5h.01",
  topics: "M5 6h14M5 12h14M5 18h9",
  groups: "M9 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6Zm-6 8c0-3 2.7-5 6-5s6 2 6 5m1-8.5a2.6 2.6 0 1 0-1-5m2 8.6c2.4.4 4 2 4 4.4",
  transactions: "M4 8h13l-3-3m6 11H7l3 3",
  messages: "M4 5h16v11H9l-5 4z",
  schemas: "M8 4c-2 0-2 1.500-2 3v2c0 2-2 3-2 3s2 1 2 3v2c0 1.500 0 3 2 3m8-16c2 0 2 1.500 2 3v2c0 2 2 3 2 3s-2 1-2 3v2c0 1.500 0 3-2 3",
  pipelines: "M4 7h4c5 0 3 10 8 10h4m-3-3 3 3-3 3M4 17h4",
  logs: "M6 4h9l4 4v12H6zM9 12h7M9 16h7",
  storage: "M4 7c0-1.700 3.600-3 8-3s8 1.300 8 3-3.600 3-8 3-8-1.300-8-3Zm0 0v10c0 1.700 3.600 3 8 3s8-1.300 8-3V7m-16 5c0 1.700 3.600 3 8 3s8-1.300 8-3",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14Zm5-2 4 4",
  menu: "M4 7h16M4 12h16M4 17h16",
  help: "M9 9a3 3 0 1 1 4.500 2.600c-1 .6-1.500 1.200-1.500 2.400m0 3.500h.01M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18Z",
  light: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8Zm0-13v2m0 14v2M3 12h2m14 0h2M5.600 5.600 7 7m10 10 1.400 1.400M18.400 5.600 17 7M7 17l-1.400 1.400",
  dark: "M20 14.500A8 8 0 0 1 9.500 4a8 8 0 1 0 10.500 10.500Z",
  system: "M4 5h16v11H4zM9 20h6m-3-4v4",
  refresh: "M20 11a8 8 0 0 0-14.500-3.500L4 9m0-4v4h4m-4 4a8 8 0 0 0 14.500 3.500L20 15m0 4v-4h-4",
};

/** A picture; it is said by the words beside it, so it is not said again. */
export function icon(name) {
  return h("svg", { class: "pictogram", viewBox: "0 0 24 24", "aria-hidden": "true" },
    h("path", { d: PATHS[name] }));
}

/** Water that runs down a pipe. */
export function logo() {
  return h("svg", { class: "logo", viewBox: "0 0 32 32", "aria-hidden": "true" },
    h("rect", { width: 32, height: 32, rx: 8, class: "logo-ground" }),
    h("path", { d: "M6 9h9c5 0 7 3 7 7s2 7 4 7", class: "logo-pipe" }),
    h("path", { d: "M6 16h5c3 0 4 2 4 4s1 3 3 3", class: "logo-water" }));
}

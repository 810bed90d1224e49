/** What all brokers have logged: searched by text, level, broker, component, field and time; followed live. */

import { api } from "../parts/api.js";
import { notes } from "../parts/card.js";
import { h } from "../parts/dom.js";
import { clock, moment, plural } from "../parts/format.js";
import { readEvents } from "../parts/stream.js";

const LEVELS = [["debug", "All levels"], ["info", "Info or worse"], ["warning", "Warnings or worse"], ["error", "Errors or worse"]];
const TIMES = [["10", "Last 10 minutes"], ["60", "Last hour"], ["1440", "Last day"], ["10080", "Last week"], ["", "All times"]];
const NAMES = ["text", "level", "broker", "component", "event", "field", "regex"];
const TONES = { warning: "warn", error: "bad", critical: "bad", info: "", debug: "muted" };
const SHOWN_MAX = 1000;
const DRAWN_EVERY_MS = 150;

export const logs = {
  title: "Logs",
  actions: (view) => h("button", {
    class: follows(view) ? "live on" : "live", "aria-pressed": String(follows(view)),
    onclick: () => go(view, { live: follows(view) ? "" : "1" }),
  }, follows(view) ? "Live" : "Go live"),
  load: async (view) => {
    view.memory.get("stream")?.abort();
    const found = await api.get("logs", { signal: view.signal, query: { ...query(view), since: since(view), limit: 300 } });
    if (follows(view) && !found.absent) follow(view, found);
    return found;
  },
  draw: (view, data) => [
    tools(view),
    h("section", { class: "card", key: "entries", "aria-label": "Entries" },
      data.absent ? absent(data) : entries(view, data)),
    notes(data.notes),
  ],
  refresh_ms: 0,
};

function follows(view) {
  return Boolean(view.query.get("live"));
}

function query(view) {
  return Object.fromEntries(NAMES.map((name) => [name, view.query.get(name) ?? ""]));
}

function since(view) {
  const minutes = view.query.get("minutes") ?? "60";
  return minutes && minutes !== "all" ? String(Date.now() - Number(minutes) * 60_000) : "";
}

function go(view, values) {
  view.setQuery(values);
  view.reload();
}

function tools(view) {
  const value = (name) => view.query.get(name) ?? "";
  return h("form", {
    class: "query narrow", key: "query", role: "search",
    onsubmit: (event) => {
      event.preventDefault();
      const { text, component, broker, field } = event.target.elements;
      go(view, { text: text.value.trim(), component: component.value.trim(), broker: broker.value, field: field.value.trim() });
    },
  },
  h("input", {
    type: "search", name: "text", class: "filter grow", key: "text", initial: value("text"), autocomplete: "off",
    placeholder: "Text of events and fields", "aria-label": "Text", spellcheck: "false",
  }),
  choice(view, "level", "Level", LEVELS, value("level") || "debug"),
  choice(view, "minutes", "Time", TIMES.map(([key, text]) => [key || "all", text]), value("minutes") || "60"),
  h("input", { type: "text", name: "component", class: "short", key: "component", initial: value("component"), placeholder: "Component", "aria-label": "Component", autocomplete: "off" }),
  h("input", { type: "number", name: "broker", class: "tiny", key: "broker", initial: value("broker"), placeholder: "Broker", "aria-label": "Broker", min: "0" }),
  h("input", { type: "text", name: "field", class: "short", key: "field", initial: value("field"), placeholder: "field=value", "aria-label": "Field", autocomplete: "off" }),
  h("button", { class: "primary", type: "submit", key: "search" }, "Search"));
}

function choice(view, name, label, options, chosen) {
  return h("select", {
    key: name, "aria-label": label, value: chosen, onchange: (event) => go(view, { [name]: event.target.value }),
  }, options.map(([value, text]) => h("option", { value, key: value, preset: value === chosen }, text)));
}

function absent(data) {
  return h("div", { class: "empty" },
    h("p", {}, data.absent),
    h("p", {}, "Brokers of Penstock feed it unless ", h("code", {}, "server.log.topic.enable"), " is false."));
}

function entries(view, data) {
  const problem = view.memory.get("problem");
  if (data.entries.length === 0) return h("p", { class: "empty" }, follows(view) ? "Nothing yet. What is logged from now on appears here." : "Nothing was logged that fits.");
  return [
    h("p", { class: "muted", role: "status", key: "count" },
      plural(data.entries.length, "entry", "entries"), data.is_cut && ", the newest; narrow the search to see older ones"),
    problem && h("p", { class: "problem", key: "problem" }, problem),
    h("div", { class: "table-scroll", key: "rows", tabindex: "0", role: "region", "aria-label": "Entries" },
      h("table", { class: "logs" },
        h("thead", {}, h("tr", {}, ["Time", "Level", "Broker", "Component", "What happened"].map((title, index) =>
          h("th", { scope: "col", key: title, class: index === 2 ? "right secondary" : index === 3 ? "secondary" : undefined }, title)))),
        h("tbody", {}, data.entries.flatMap((entry, index) => rowsOf(view, entry, keyOf(entry, index, data)))))),
  ];
}

/** Two entries may be alike; those that came later keep their names when newer ones come before them. */
function keyOf(entry, index, data) {
  return `${entry.time_ms}-${entry.node}-${entry.event}-${data.entries.length - index}`;
}

function rowsOf(view, entry, key) {
  const opened = openedIn(view);
  const isOpen = opened.has(entry);
  const toggle = (event) => {
    if (!event.target.closest("button") && String(getSelection())) return;
    if (!opened.delete(entry)) opened.add(entry);
    view.redraw();
  };
  const row = h("tr", { key, class: isOpen ? "opened" : undefined, onclick: toggle },
    h("th", { scope: "row", class: "when" }, h("button", { class: "link", "aria-expanded": String(isOpen), title: moment(entry.time_ms) },
      `${clock(entry.time_ms)}.${String(entry.time_ms % 1000).padStart(3, "0")}`)),
    h("td", {}, h("span", { class: `level ${TONES[entry.level] ?? ""}` }, entry.level)),
    h("td", { class: "right secondary" }, entry.node === null ? "–" : String(entry.node)),
    h("td", { class: "secondary muted" }, entry.component.replace(/^broker\./, "")),
    h("td", { class: "event" }, h("b", {}, entry.event), " ", h("span", { class: "mono muted" }, summary(entry.fields))));
  return isOpen ? [row, h("tr", { key: `${key}-open`, class: "details" }, h("td", { colspan: matchMedia("(max-width: 820px)").matches ? "3" : "5" }, details(view, entry)))] : [row];
}

function summary(fields) {
  return Object.entries(fields).map(([name, value]) => `${name}=${words(value)}`).join("  ");
}

function words(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}

function details(view, entry) {
  const all = { time: `${moment(entry.time_ms)}.${String(entry.time_ms % 1000).padStart(3, "0")}`, component: entry.component, broker: entry.node ?? "–", ...entry.fields };
  return h("dl", { class: "fields-list" }, Object.entries(all).map(([name, value]) => h("div", { key: name },
    h("dt", {}, name), h("dd", { class: "mono" }, words(value)),
    name in entry.fields && typeof value !== "object" && h("dd", {}, h("button", {
      class: "link", onclick: (event) => { event.stopPropagation(); go(view, { field: `${name}=${words(value)}` }); },
      "aria-label": `Only entries with ${name} ${words(value)}`,
    }, "only these")))));
}

function openedIn(view) {
  if (!view.memory.has("opened")) view.memory.set("opened", new Set());
  return view.memory.get("opened");
}

function follow(view, found) {
  const ended = new AbortController();
  view.signal.addEventListener("abort", () => ended.abort());
  view.memory.set("stream", ended);
  view.memory.delete("problem");
  let timer = 0;
  readEvents("logs/follow", {
    query: query(view), signal: ended.signal,
    onEvent: (name, data) => {
      found.entries = [...data.entries, ...found.entries].slice(0, SHOWN_MAX);
      timer ||= setTimeout(() => { timer = 0; view.redraw(); }, DRAWN_EVERY_MS);
    },
  }).catch((error) => { view.memory.set("problem", error.message); view.redraw(); });
}

/** A table of messages whose rows open: the whole message is asked for when somebody looks at it. */

import { api, path } from "../parts/api.js";
import { h } from "../parts/dom.js";
import { clock, moment } from "../parts/format.js";
import { preview } from "../parts/payload.js";
import { messageDetails } from "./messages_one.js";

const DAY_MS = 86_400_000;

/** Two of them are not shown on a phone. */
const columns = () => (matchMedia("(max-width: 820px)").matches ? 3 : 5);

/** The table. */
export function messageRows(view, messages) {
  return h("div", { class: "table-scroll", key: "rows", tabindex: "0", role: "region", "aria-label": "Messages" },
    h("table", { class: "messages" },
      h("thead", {}, h("tr", {},
        h("th", { scope: "col" }, "Time"),
        h("th", { scope: "col", class: "right secondary" }, "Partition"),
        h("th", { scope: "col", class: "right secondary" }, "Offset"),
        h("th", { scope: "col" }, "Key"),
        h("th", { scope: "col" }, "Value"))),
      h("tbody", {}, messages.flatMap((message) => rowsOf(view, message)))));
}

function rowsOf(view, message) {
  const key = `${message.partition}-${message.offset}`;
  const opened = opened_in(view).get(key);
  const row = h("tr", { key, class: opened ? "opened" : undefined, onclick: (event) => onRow(event, view, message, key) },
    h("th", { scope: "row", class: "when" },
      h("button", {
        class: "link", "aria-expanded": String(Boolean(opened)), title: moment(message.timestamp),
        "aria-label": `Message ${message.offset} of partition ${message.partition}`,
      }, shortTime(message.timestamp))),
    h("td", { class: "right secondary" }, String(message.partition)),
    h("td", { class: "right secondary" }, String(message.offset)),
    h("td", { class: "payload key" }, preview(message.key)),
    h("td", { class: "payload" }, preview(message.value)));
  if (!opened) return [row];
  return [row, h("tr", { key: `${key}-opened`, class: "details" }, h("td", { colspan: String(columns()) }, detailsOf(view, opened)))];
}

function detailsOf(view, opened) {
  if (opened.problem) return h("p", { class: "problem" }, opened.problem);
  if (!opened.message) return h("p", { class: "muted" }, "Loading…");
  return messageDetails(view, opened.message);
}

function onRow(event, view, message, key) {
  if (event.target.closest("a") || (!event.target.closest("button") && String(getSelection()))) return;
  const opened = opened_in(view);
  if (opened.delete(key)) return view.redraw();
  opened.set(key, {});
  view.redraw();
  api.get(path("messages", view.params.topic, message.partition, message.offset), { signal: view.signal })
    .then((whole) => opened.set(key, { message: whole }), (error) => opened.set(key, { problem: error.message }))
    .then(() => view.redraw());
}

function opened_in(view) {
  if (!view.memory.has("opened")) view.memory.set("opened", new Map());
  return view.memory.get("opened");
}

/** Of today only the time, of other days the day too. */
function shortTime(time_ms) {
  if (time_ms < 0) return "no time";
  const milliseconds = String(time_ms % 1000).padStart(3, "0");
  return Math.abs(Date.now() - time_ms) < DAY_MS ? `${clock(time_ms)}.${milliseconds}` : moment(time_ms);
}

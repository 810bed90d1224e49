/** One message: where and when it is, its key, its value and its headers, and what can be done with it. */

import { api, path } from "../parts/api.js";
import { h } from "../parts/dom.js";
import { bytes, moment } from "../parts/format.js";
import { describe, preview, whole } from "../parts/payload.js";
import { prettyJson } from "../parts/json_text.js";
import { link } from "../parts/route.js";
import { facts } from "../parts/table.js";
import { toast } from "../parts/toast.js";
import { sendMessage } from "./messages_send.js";

export const oneMessage = {
  title: (view) => `${view.params.topic} / ${view.params.partition} / ${view.params.offset}`,
  trail: (view) => [["Messages", link("messages")], [view.params.topic, link("messages", view.params.topic)]],
  actions: (view, data) => [
    h("a", beside(data, -1), "← Before"),
    h("a", beside(data, 1), "After →"),
    h("button", { class: "primary", onclick: () => resend(view, data) }, "Send again"),
  ],
  load: ({ params, signal }) => api.get(path("messages", params.topic, params.partition, params.offset), { signal }),
  draw: (view, data) => h("section", { class: "card", "aria-label": "Message" }, messageDetails(view, data)),
};

/** A link to a neighbour, as far as the partition goes; what was compacted away is told there. */
function beside({ topic, partition, offset, range }, step) {
  const other = offset + step;
  const isThere = other >= range.start && other < range.end;
  return isThere
    ? { class: "button", href: link("messages", topic, partition, other) }
    : { class: "button", "aria-disabled": "true" };
}

/** All of a message, for a page of its own and for a row of a table. */
export function messageDetails(view, message) {
  return h("div", { class: "message" },
    facts([
      ["Time", message.timestamp < 0 ? "none" : `${moment(message.timestamp)}.${String(message.timestamp % 1000).padStart(3, "0")}`],
      ["Partition", String(message.partition)],
      ["Offset", String(message.offset)],
      ["Size", bytes(message.size)],
      ["Headers", String(message.header_count)],
    ]),
    part(view, message, "Key", message.key),
    part(view, message, "Value", message.value),
    message.headers.length > 0 && headers(message),
    view.params.offset === undefined && h("div", { class: "message-actions" },
      h("button", { onclick: () => resend(view, message) }, "Send again"),
      h("a", { href: link("messages", view.params.topic, message.partition, message.offset) }, "Open this message alone")));
}

function part(view, message, title, payload) {
  const place = `form-${title}-${message.partition}-${message.offset}`;
  const form = view.memory.get(place) ?? "read";
  const other = form === "read" ? "bytes" : "read";
  const canSwitch = payload.kind !== "null" && payload.text !== undefined;
  return h("section", { class: "part", key: title },
    h("header", {},
      h("h3", {}, title), h("span", { class: "muted" }, describe(payload)),
      h("span", { class: "spread" },
        canSwitch && h("button", { class: "link", onclick: () => { view.memory.set(place, other); view.redraw(); } },
          form === "read" ? "Show bytes" : "Show text"),
        payload.text !== undefined && h("button", { class: "link", onclick: () => copy(payload) }, "Copy"))),
    whole(payload, form));
}

function headers(message) {
  return h("section", { class: "part", key: "headers" },
    h("header", {}, h("h3", {}, "Headers")),
    h("table", { class: "headers" }, h("tbody", {}, message.headers.map((header, index) => h("tr", { key: index },
      h("th", { scope: "row" }, header.name), h("td", { class: "mono" }, preview(header.value)))))));
}

async function copy(payload) {
  const text = payload.kind === "text" || payload.is_cut ? payload.text : prettyJson(payload.text);
  try {
    await navigator.clipboard.writeText(text);
    toast("Copied.");
  } catch {
    toast("The browser does not let this page copy. Mark the text and copy it yourself.", "bad");
  }
}

function resend(view, message) {
  return sendMessage(view, { topic: message.topic ?? view.params.topic, message });
}


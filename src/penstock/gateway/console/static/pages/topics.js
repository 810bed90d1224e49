/** All topics in numbers, and making a new one. */

import { api } from "../parts/api.js";
import { badge, card, empty, notes } from "../parts/card.js";
import { h } from "../parts/dom.js";
import { bytes, count, exact, rate, told } from "../parts/format.js";
import { link } from "../parts/route.js";
import { table } from "../parts/table.js";
import { createTopic } from "./topic_actions.js";

export const topics = {
  title: "Topics",
  load: (view) => api.get("topics", { signal: view.signal }),
  actions: (view) => h("button", { class: "primary", onclick: () => createTopic(view) }, "Create topic"),
  draw: (view, data) => [card(null, list(view, data)), notes(data.notes)],
};

function list(view, data) {
  const hidden = view.query.get("internal") !== "yes";
  const rows = hidden ? data.topics.filter((topic) => !topic.is_internal) : data.topics;
  const internal = data.topics.filter((topic) => topic.is_internal).length;
  return table(view, {
    rows, noun: "topic", filter: true, sort: "name", key: (row) => row.name, href: (row) => link("topics", row.name),
    empty: empty("There are no topics yet.",
      h("button", { class: "primary", onclick: () => createTopic(view) }, "Create the first one")),
    tools: h("label", { class: "choice" },
      h("input", {
        type: "checkbox", checked: !hidden,
        onchange: (event) => { view.setQuery({ internal: event.target.checked ? "yes" : "" }); view.redraw(); },
      }), `Internal (${internal})`),
    columns: [
      { name: "name", title: "Topic", value: (row) => row.name + words(row), show: (row) => [
        row.name, row.is_internal && badge("internal"),
      ] },
      { name: "partitions", title: "Partitions", align: "right", value: (row) => row.partitions, show: (row) => exact(row.partitions) },
      { name: "replication", title: "Replicas", align: "right", class: "secondary", value: (row) => row.replication_factor, show: (row) => exact(row.replication_factor) },
      { name: "rate", title: "Messages in", align: "right", value: (row) => row.rate, show: (row) => told(row.rate, rate) },
      { name: "messages", title: "Messages", align: "right", value: (row) => row.messages, show: (row) => told(row.messages, count) },
      { name: "bytes", title: "Size", align: "right", value: (row) => row.bytes, show: (row) => told(row.bytes, bytes) },
      { name: "under_replicated", title: "Behind", align: "right", value: (row) => row.under_replicated, show: (row) => warned(row.under_replicated, "warn") },
      { name: "offline", title: "Leaderless", align: "right", value: (row) => row.offline, show: (row) => warned(row.offline, "bad") },
    ],
  });
}

/** What can be searched for beside a name. */
function words(row) {
  return `${row.under_replicated ? " under-replicated" : ""}${row.offline ? " leaderless" : ""}`;
}

function warned(amount, tone) {
  return amount > 0 ? h("span", { class: tone }, exact(amount)) : "0";
}

/** Moving a group: first where to, then every offset before and after, and only then is it done. */

import { api, path } from "../parts/api.js";
import { confirm, form } from "../parts/dialog.js";
import { h } from "../parts/dom.js";
import { exact, plural } from "../parts/format.js";
import { toast } from "../parts/toast.js";

const TARGETS = [
  ["earliest", "The first message there is"], ["latest", "The end: only what comes from now on"],
  ["timestamp", "The first message since a time"], ["offset", "An offset"],
  ["shift", "So many messages forth, or back (negative)"], ["current", "Where it is, within the log"],
];

/** Ask, preview, do. */
export async function resetGroup(view, group) {
  const body = await ask(group);
  if (!body) return;
  const where = path("groups", group.group, "reset");
  const preview = await api.post(where, { ...body, dry_run: true }).catch((error) => {
    toast(error.message, "bad");
    return null;
  });
  if (!preview) return;
  const done = await confirm({
    title: `Move ${group.group}?`,
    action: "Reset offsets",
    wide: true,
    danger: true,
    body: [summary(preview), moves(preview.offsets)],
    submit: () => api.post(where, { ...body, dry_run: false }),
  });
  if (!done) return;
  toast(`Group ${group.group} is moved.`);
  await view.reload();
}

function ask(group) {
  const topics = [...new Set(group.partitions.map((each) => each.topic))];
  return form({
    title: `Reset offsets of ${group.group}`,
    action: "Preview",
    body: "Nothing is changed yet: you will see every offset before and after.",
    fields: [
      { name: "to", label: "Move it to", options: TARGETS },
      { name: "number", label: "Which", type: "number", required: true, when: ({ to }) => ["offset", "shift"].includes(to) },
      { name: "since", label: "Since", type: "datetime-local", step: 1, required: true, hint: "In your own time zone.",
        when: ({ to }) => to === "timestamp" },
      { name: "topic", label: "In", options: topics.length > 0
        ? [["", `All its topics (${topics.length})`], ...topics.map((name) => [name, name])]
        : [["", "All its topics"]] },
    ],
    submit: (values) => bodyOf(values),
  });
}

function bodyOf({ to, number, since, topic }) {
  const value = to === "timestamp" ? new Date(since).getTime() : (number ?? 0);
  return { to, number: value, topics: topic ? [topic] : [] };
}

function summary({ offsets, is_active: isActive }) {
  const changes = offsets.map((move) => move.change ?? 0);
  const again = -sum(changes.filter((change) => change < 0));
  const skipped = sum(changes.filter((change) => change > 0));
  return h("p", { class: "summary" },
    again > 0 && [h("b", {}, plural(again, "message")), " will be read again. "],
    skipped > 0 && [h("b", {}, plural(skipped, "message")), " will be skipped. "],
    again === 0 && skipped === 0 && "Nothing moves. ",
    isActive && h("span", { class: "bad" }, "It has members: they must stop first."));
}

function moves(rows) {
  return h("div", { class: "table-scroll" }, h("table", {},
    h("thead", {}, h("tr", {}, ["Partition", "Before", "After", "Change", ""].map((title, index) =>
      h("th", { key: title, scope: "col", class: index > 0 && index < 4 ? "right" : undefined }, title)))),
    h("tbody", {}, rows.map((move) => h("tr", { key: `${move.topic}-${move.partition}` },
      h("th", { scope: "row" }, `${move.topic}-${move.partition}`),
      h("td", { class: "right" }, move.old_offset === null ? "nothing" : exact(move.old_offset)),
      h("td", { class: "right" }, move.new_offset === null ? "left alone" : exact(move.new_offset)),
      h("td", { class: "right" }, signed(move.change)),
      h("td", { class: "muted" }, move.note))))));
}

function signed(change) {
  if (change === null) return "";
  return change > 0 ? `+${exact(change)}` : exact(change);
}

function sum(numbers) {
  return numbers.reduce((all, number) => all + number, 0);
}

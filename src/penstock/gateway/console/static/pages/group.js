/** One consumer group: how far it is in every partition, who is in it, how its lag went. */

import { api, path } from "../parts/api.js";
import { badge, card, empty, tile, tiles } from "../parts/card.js";
import { lineChart } from "../parts/chart.js";
import { confirm } from "../parts/dialog.js";
import { h } from "../parts/dom.js";
import { count, exact, plural, told } from "../parts/format.js";
import { link } from "../parts/route.js";
import { table } from "../parts/table.js";
import { toast } from "../parts/toast.js";
import { resetGroup } from "./group_reset.js";
import { groupState } from "./groups.js";

export const group = {
  title: (view) => view.params.group,
  trail: () => [["Consumer groups", link("groups")]],
  load: (view) => api.get(path("groups", view.params.group), { signal: view.signal }),
  actions: (view, data) => [
    h("button", { onclick: () => resetGroup(view, data) }, "Reset offsets"),
    h("button", { class: "danger", onclick: () => remove(view, data) }, "Delete"),
  ],
  draw: (view, data) => [
    tiles(
      tile("State", groupState(data.state), { detail: data.type === "consumer" ? "assigned by the broker" : "classic protocol" }),
      tile("Members", exact(data.members.length), { detail: data.protocol || "no assignor" }),
      tile("Lag", told(data.lag, count), { detail: "messages to go" }),
      tile("Partitions", exact(data.partitions.length), { detail: plural(new Set(data.partitions.map((each) => each.topic)).size, "topic") }),
      tile("Coordinator", `Broker ${data.coordinator}`, { href: link("brokers", data.coordinator), detail: data.epoch === null ? "" : `epoch ${data.epoch}` })),
    card("Lag", lineChart({
      series: [{ name: "Lag", points: data.lag_over_time }], format: count, label: `Lag of ${data.group}`, height: 170,
    }), { note: "messages to go, all partitions" }),
    card("Partitions", partitions(view, data)),
    card("Members", members(view, data)),
  ],
};

function partitions(view, { partitions: rows }) {
  return table(view, {
    rows, noun: "partition", sort: "-lag", key: (row) => `${row.topic}-${row.partition}`,
    empty: empty("It has committed nothing, and its members have no partitions."),
    columns: [
      { name: "partition", title: "Partition", value: (row) => `${row.topic}-${row.partition}`, show: (row) =>
        h("a", { href: link("topics", row.topic) }, `${row.topic}-${row.partition}`) },
      { name: "committed", title: "Committed", align: "right", value: (row) => row.committed_offset, show: (row) =>
        row.committed_offset === null ? h("span", { class: "muted" }, "nothing") : exact(row.committed_offset) },
      { name: "end", title: "End", align: "right", value: (row) => row.end_offset, show: (row) => told(row.end_offset, exact) },
      { name: "lag", title: "Lag", align: "right", value: (row) => row.lag, show: (row) => told(row.lag, exact) },
      { name: "client", title: "Read by", class: "secondary", value: (row) => row.client_id, show: (row) =>
        row.client_id ? [row.client_id, h("span", { class: "muted" }, ` ${row.host}`)] : h("span", { class: "muted" }, "nobody") },
    ],
  });
}

function members(view, { members: rows }) {
  return table(view, {
    id: "members", rows, noun: "member", key: (row) => row.member_id,
    empty: empty("Nobody is in it at present. Its offsets stay until they expire, and can be reset now."),
    columns: [
      { name: "client", title: "Client", value: (row) => row.client_id, show: (row) => [
        row.client_id, row.instance_id && badge(row.instance_id, "A static member"),
      ] },
      { name: "host", title: "Host", value: (row) => row.host },
      { name: "assigned", title: "Partitions", value: (row) => JSON.stringify(row.assignment), show: (row) => assigned(row.assignment) },
      { name: "member", title: "Member id", class: "mono secondary", value: (row) => row.member_id },
    ],
  });
}

function assigned(assignment) {
  const entries = Object.entries(assignment);
  if (entries.length === 0) return h("span", { class: "muted" }, "none");
  return entries.map(([topic, numbers]) => h("div", { key: topic }, h("a", { href: link("topics", topic) }, topic), ` ${ranges(numbers)}`));
}

/** `0–3, 7` */
function ranges(numbers) {
  const runs = [];
  for (const number of [...numbers].sort((left, right) => left - right)) {
    const last = runs.at(-1);
    if (last && number === last[1] + 1) last[1] = number;
    else runs.push([number, number]);
  }
  return runs.map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`)).join(", ");
}

async function remove(view, data) {
  const done = await confirm({
    title: `Delete group ${data.group}?`,
    action: "Delete group",
    typed: data.group,
    body: data.is_active
      ? "It has members at present: the cluster will refuse until they have stopped."
      : "What it has committed is forgotten: consumers that use the name again begin where auto.offset.reset says.",
    submit: () => api.remove(path("groups", data.group), { confirm: data.group }),
  });
  if (!done) return;
  toast(`Group ${data.group} is deleted.`);
  view.go(link("groups"));
}

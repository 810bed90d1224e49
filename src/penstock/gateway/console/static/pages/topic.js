/** One topic: its partitions, its settings, who reads it. */

import { api, path } from "../parts/api.js";
import { badge, card, empty, notes, tile, tiles } from "../parts/card.js";
import { lineChart } from "../parts/chart.js";
import { configTable } from "../parts/config.js";
import { h } from "../parts/dom.js";
import { bytes, count, exact, rate, told, untold } from "../parts/format.js";
import { link } from "../parts/route.js";
import { table } from "../parts/table.js";
import { addPartitions, deleteTopic } from "./topic_actions.js";

const TABS = [["Partitions", ""], ["Settings", "config"], ["Consumer groups", "groups"]];

export const topic = {
  title: (view) => view.params.topic,
  trail: () => [["Topics", link("topics")]],
  load: async (view) => {
    const { topic: name, tab } = view.params;
    const [data, config] = await Promise.all([
      api.get(path("topics", name), { signal: view.signal }),
      tab === "config" ? configOf(view, name) : null,
    ]);
    return { ...data, configs: config?.configs };
  },
  actions: (view, data) => [
    h("a", { class: "button primary", href: link("messages", data.name) }, "Messages"),
    !data.is_internal && h("button", { onclick: () => addPartitions(view, data) }, "Add partitions"),
    !data.is_internal && h("button", { class: "danger", onclick: () => deleteTopic(view, data) }, "Delete"),
  ],
  tabs: (view, data) => TABS.map(([text, tab]) => [
    tab === "groups" ? `${text} (${data.groups.length})` : text,
    tab ? link("topics", data.name, tab) : link("topics", data.name),
    (view.params.tab ?? "") === tab,
  ]),
  draw: (view, data) => {
    if (view.params.tab === "config") return settings(view, data);
    if (view.params.tab === "groups") return readers(view, data);
    return overview(view, data);
  },
};

/** Null where the cluster does not tell settings, or not to us. */
function configOf(view, name) {
  return api.get(path("topics", name, "config"), { signal: view.signal }).catch((error) => {
    if (![403, 501].includes(error.status)) throw error;
    return null;
  });
}

function overview(view, data) {
  const behind = data.partitions.filter((each) => each.isr.length < each.replicas.length).length;
  return [
    tiles(
      tile("Partitions", exact(data.partitions.length), { detail: `${data.partitions[0]?.replicas.length ?? 0} replicas each` }),
      tile("Messages in", told(data.rate, rate), { detail: "now" }),
      tile("Messages", count(sum(data.partitions, (each) => each.end_offset - each.start_offset)), { detail: "offsets in the logs" }),
      tile("Size", told(data.bytes, bytes), { detail: "one replica of each" }),
      tile("Under-replicated", exact(behind), { detail: "partitions", tone: behind ? "warn" : undefined })),
    h("div", { class: "columns" },
      card("Messages in", lineChart({
        series: [{ name: "Messages", points: data.messages_per_second }], format: rate, label: `Messages into ${data.name}`, height: 150,
      }), { note: "per second" }),
      card("Size", lineChart({
        series: [{ name: "Bytes", points: data.stored_bytes }], format: bytes, label: `Bytes of ${data.name}`, height: 150,
      }))),
    card("Partitions", partitions(view, data)),
    notes(data.notes),
  ];
}

function partitions(view, { name, partitions: rows }) {
  return table(view, {
    rows, noun: "partition", key: (row) => row.partition, href: (row) => link("messages", name, row.partition),
    columns: [
      { name: "partition", title: "Partition", value: (row) => row.partition },
      { name: "leader", title: "Leader", value: (row) => row.leader, show: (row) => row.leader === null
        ? h("span", { class: "bad" }, "none") : h("a", { href: link("brokers", row.leader) }, `Broker ${row.leader}`) },
      { name: "replicas", title: "Replicas", value: (row) => row.replicas.join(" "), show: replicas },
      { name: "start", title: "First offset", align: "right", class: "secondary", value: (row) => row.start_offset, show: (row) => told(row.start_offset, exact) },
      { name: "end", title: "Next offset", align: "right", value: (row) => row.end_offset, show: (row) => told(row.end_offset, exact) },
      { name: "rate", title: "Messages in", align: "right", value: (row) => row.rate, show: (row) => told(row.rate, rate) },
      { name: "bytes", title: "Size", align: "right", value: (row) => row.bytes, show: (row) => told(row.bytes, bytes) },
    ],
  });
}

/** Replicas that are behind stand struck through, and are said to be. */
function replicas(row) {
  return h("span", { class: "replicas" }, row.replicas.map((node) => {
    const isIn = row.isr.includes(node);
    return h("span", {
      key: node, class: isIn ? "replica" : "replica behind", title: `Broker ${node} is ${isIn ? "in sync" : "behind"}`,
    }, String(node), !isIn && " behind");
  }));
}

function settings(view, data) {
  if (!data.configs) return card(null, h("p", { class: "empty" }, untold()));
  return card(null, configTable(view, data.configs, {
    save: (name, value) => api.patch(path("topics", data.name, "config"), { changes: { [name]: value } }),
  }));
}

function readers(view, { name, groups }) {
  return card(null, table(view, {
    rows: groups, noun: "group", sort: "-lag", key: (row) => row.group, href: (row) => link("groups", row.group),
    empty: empty(`No group has committed an offset in ${name}.`),
    columns: [
      { name: "group", title: "Group", value: (row) => row.group },
      { name: "lag", title: "Lag here", align: "right", value: (row) => row.lag, show: (row) => [exact(row.lag), row.lag === 0 && badge("caught up")] },
    ],
  }));
}

function sum(rows, value) {
  return rows.reduce((all, row) => all + (value(row) || 0), 0);
}

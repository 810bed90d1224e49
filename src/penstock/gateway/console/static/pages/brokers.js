/** The brokers, and the quorum that decides on metadata. */

import { api } from "../parts/api.js";
import { badge, card, notes, state } from "../parts/card.js";
import { meter } from "../parts/chart.js";
import { h } from "../parts/dom.js";
import { bytes, exact, told, untold } from "../parts/format.js";
import { link } from "../parts/route.js";
import { facts, table } from "../parts/table.js";

export const TONES = { up: "good", draining: "warn", fenced: "bad", down: "bad" };

export const brokers = {
  title: "Brokers",
  load: (view) => api.get("brokers", { signal: view.signal }),
  draw: (view, data) => [
    card("Brokers", list(view, data)),
    card("Quorum", quorum(view, data), { note: "who decides on metadata (Raft)" }),
    notes(data.notes),
  ],
};

function list(view, { brokers: rows }) {
  const most = Math.max(...rows.map((broker) => broker.leaders), 1);
  return table(view, {
    rows, noun: "broker", href: (row) => link("brokers", row.id), key: (row) => row.id,
    columns: [
      { name: "id", title: "Broker", value: (row) => row.id, show: (row) => [
        String(row.id), row.is_controller && badge("controller", "Decides for the cluster"),
      ] },
      { name: "state", title: "State", value: (row) => row.state, show: (row) => state(row.state, TONES[row.state]) },
      { name: "address", title: "Address", class: "mono", value: (row) => row.address, show: (row) => told(row.address, String) },
      { name: "rack", title: "Rack", class: "secondary", value: (row) => row.rack, show: (row) => row.rack ?? "–" },
      { name: "leaders", title: "Leads", align: "right", value: (row) => row.leaders, show: (row) => [
        meter(row.leaders / most, `leads ${row.leaders} partitions`), h("span", { class: "figure" }, exact(row.leaders)),
      ] },
      { name: "replicas", title: "Replicas", align: "right", value: (row) => row.replicas, show: (row) => exact(row.replicas) },
      { name: "behind", title: "Not in sync", align: "right", value: (row) => row.replicas - row.in_sync, show: (row) =>
        h("span", { class: row.replicas > row.in_sync ? "warn" : "" }, exact(row.replicas - row.in_sync)) },
      { name: "bytes", title: "Logs", align: "right", value: (row) => row.bytes, show: (row) => told(row.bytes, bytes) },
    ],
  });
}

function quorum(view, { quorum: raft, brokers: known }) {
  if (!raft) return h("p", { class: "empty" }, untold("It is not a cluster with KRaft, or an older one."));
  return [
    facts([
      ["Leader", raft.leader < 0 ? h("span", { class: "bad" }, "none") : `Node ${raft.leader}`],
      ["Epoch", exact(raft.epoch)],
      ["High watermark", exact(raft.high_watermark)],
      ["Voters", exact(raft.nodes.filter((node) => node.role !== "observer").length)],
    ]),
    h("div", { class: "gap" }),
    table(view, {
      id: "quorum", rows: raft.nodes, noun: "node", filter: false, key: (row) => row.node,
      columns: [
        { name: "node", title: "Node", value: (row) => row.node, show: (row) =>
          known.some((broker) => broker.id === row.node)
            ? h("a", { href: link("brokers", row.node) }, `Node ${row.node}`) : `Node ${row.node}` },
        { name: "role", title: "Role", value: (row) => row.role, show: (row) =>
          state(row.role, row.role === "leader" ? "good" : "") },
        { name: "end", title: "Log end", align: "right", value: (row) => row.log_end_offset, show: (row) =>
          row.log_end_offset < 0 ? untold() : exact(row.log_end_offset) },
        { name: "lag", title: "Behind", align: "right", value: (row) => row.lag, show: (row) => exact(row.lag) },
      ],
    }),
  ];
}

/** One broker: what it holds, its directories, its settings. */

import { api, path } from "../parts/api.js";
import { badge, card, notes, state, tile, tiles } from "../parts/card.js";
import { configTable } from "../parts/config.js";
import { h } from "../parts/dom.js";
import { bytes, exact, percent, told, untold } from "../parts/format.js";
import { link } from "../parts/route.js";
import { table } from "../parts/table.js";
import { TONES } from "./brokers.js";

export const broker = {
  title: (view) => `Broker ${view.params.broker}`,
  trail: () => [["Brokers", link("brokers")]],
  load: (view) => api.get(path("brokers", view.params.broker), { signal: view.signal }),
  draw: (view, data) => [
    tiles(
      tile("State", state(data.state, TONES[data.state]), { detail: data.is_controller ? "controller" : data.quorum_role ?? "" }),
      tile("Address", h("span", { class: "mono" }, told(data.address, String)), { detail: data.rack ? `rack ${data.rack}` : "no rack" }),
      tile("Leads", exact(data.leaders), { detail: "partitions" }),
      tile("Replicas", exact(data.replicas), { detail: `${exact(data.in_sync)} in sync`, tone: data.in_sync < data.replicas ? "warn" : undefined }),
      tile("Logs", told(data.bytes, bytes), { detail: "on its disks" })),
    card("Directories", directories(view, data)),
    card("Replicas", replicas(view, data)),
    card("Settings", data.configs ? configTable(view, data.configs, { id: "config" }) : h("p", { class: "empty" }, untold())),
    notes(data.notes),
  ],
};

function directories(view, { directories: rows }) {
  if (!rows) return h("p", { class: "empty" }, untold());
  return table(view, {
    id: "directories", rows, noun: "directory", filter: false,
    columns: [
      { name: "path", title: "Path", value: (row) => row.path, show: (row) => h("code", {}, row.path) },
      { name: "bytes", title: "Logs", align: "right", value: (row) => row.bytes, show: (row) => bytes(row.bytes) },
      { name: "volume", title: "Volume", align: "right", value: (row) => row.volume_bytes, show: (row) => told(row.volume_bytes, bytes) },
      { name: "free", title: "Free", align: "right", value: (row) => row.usable_bytes, show: (row) => told(row.usable_bytes, (free) =>
        `${bytes(free)} (${percent(free / row.volume_bytes)})`) },
    ],
  });
}

function replicas(view, { partitions: rows }) {
  return table(view, {
    rows, noun: "replica", sort: "topic", key: (row) => `${row.topic}-${row.partition}`,
    href: (row) => link("topics", row.topic),
    columns: [
      { name: "topic", title: "Partition", value: (row) => `${row.topic}-${row.partition}` },
      { name: "role", title: "Role", value: (row) => (row.is_leader ? "leader" : "follower"), show: (row) => [
        row.is_leader ? "leader" : "follower", !row.is_in_sync && badge("not in sync"),
      ] },
      { name: "bytes", title: "Size", align: "right", value: (row) => row.bytes, show: (row) => told(row.bytes, bytes) },
    ],
  });
}

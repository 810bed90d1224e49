/** Storage: which topics are large, and what the messages of one are like. */

import { api, path } from "../parts/api.js";
import { badge, card, notes, tile, tiles } from "../parts/card.js";
import { barChart } from "../parts/chart.js";
import { h } from "../parts/dom.js";
import { bytes, count, exact, percent, plural, told } from "../parts/format.js";
import { heatMap } from "../parts/heat_map.js";
import { link } from "../parts/route.js";
import { facts, table } from "../parts/table.js";

const SAMPLES = [[10_000, "10 K messages"], [100_000, "100 K messages"], [500_000, "500 K messages"]];
const LARGEST_MAX = 12;

const all = {
  title: () => "Storage",
  load: (view) => api.get("storage", { signal: view.signal }),
  draw: (view, { topics }) => {
    const largest = [...topics].filter((each) => each.bytes > 0).sort((a, b) => b.bytes - a.bytes).slice(0, LARGEST_MAX);
    return [
      card("Largest topics", barChart({
        bars: largest.map((each) => ({ name: each.topic, value: each.bytes, href: link("storage", each.topic) })),
        format: bytes, label: "Bytes by topic",
      }), { note: "on the disks of their leaders" }),
      card("Topics", table(view, {
        noun: "topic", rows: topics, key: (row) => row.topic, sort: "-bytes", filter: true,
        href: (row) => link("storage", row.topic),
        columns: [
          { name: "topic", title: "Topic", value: (row) => row.topic, show: (row) => [row.topic, row.is_internal && badge("internal")] },
          { name: "bytes", title: "Size", align: "right", value: (row) => row.bytes, show: (row) => told(row.bytes, bytes) },
          { name: "partitions", title: "Partitions", align: "right", value: (row) => row.partitions, show: (row) => count(row.partitions) },
          { name: "largest", title: "Largest partition", align: "right", class: "secondary", value: (row) => row.largest_bytes, show: (row) => told(row.largest_bytes, bytes) },
          { name: "skew", title: "Skew", align: "right", class: "secondary", value: skewOf, show: (row) => told(skewOf(row), (skew) => `${skew.toFixed(1)}×`) },
        ],
      }), { note: "skew: how much larger the largest partition is than the mean" }),
    ];
  },
};

function skewOf(row) {
  return row.bytes ? row.largest_bytes / (row.bytes / row.partitions) : null;
}

const one = {
  title: (view) => view.params.topic,
  trail: () => [["Storage", link("storage")]],
  actions: (view) => [
    h("select", {
      "aria-label": "How much is looked at", value: sampleOf(view),
      onchange: (event) => { view.setQuery({ messages: event.target.value }); view.reload(); },
    }, SAMPLES.map(([value, text]) => h("option", { value: String(value), key: value, preset: String(value) === sampleOf(view) }, text))),
    h("a", { class: "button", href: link("messages", view.params.topic) }, "Messages"),
    h("button", { onclick: () => view.reload() }, "Look again"),
  ],
  load: (view) => api.get(path("storage", view.params.topic), { signal: view.signal, query: { messages: sampleOf(view) } }),
  draw: (view, data) => [
    sampleWords(data),
    numbers(data),
    h("div", { class: "columns" },
      card("Sizes of messages", sizes(data), { note: "before compression" }),
      card("Keys with most messages", keys(data), { note: keyNote(data) }),
      data.heat && card("When which partition was written", heatMap({
        rows: data.heat.rows.map((row) => ({ name: String(row.partition), counts: row.counts })),
        start_ms: data.heat.start_ms, bucket_ms: data.heat.bucket_ms, label: "Messages by partition and time",
      }), { wide: true, note: "partitions by time" }),
      card("Partitions", partitions(view, data), { wide: true }),
      card("Compression", codecs(data), { wide: true })),
    notes(data.notes),
  ],
};

function sampleOf(view) {
  return view.query.get("messages") ?? "100000";
}

function sampleWords({ sample }) {
  const words = sample.is_whole
    ? `All ${exact(sample.messages)} messages were read: every number is exact.`
    : `The newest ${exact(sample.offsets)} of ${exact(sample.offsets_held)} offsets were read.`;
  return h("p", { class: "muted", key: "sample", role: "status" }, words, sample.stopped && ` ${sample.stopped}`);
}

function numbers(data) {
  const stored = data.partitions.every((each) => each.stored_bytes !== null)
    ? data.partitions.reduce((sum, each) => sum + each.stored_bytes, 0) : null;
  return tiles(
    tile("On disk", told(stored, bytes), { detail: plural(data.partitions.length, "partition") }),
    tile("Messages read", count(data.messages), { detail: plural(data.batches, "batch", "batches") }),
    tile("Mean size", bytes(data.message_bytes.mean), { detail: `p99 ${bytes(data.message_bytes.p99)}` }),
    tile("Compression", `${data.compression.ratio.toFixed(1)}×`, { detail: Object.keys(data.compression.codecs).join(", ") || "none" }),
    tile("Keys", count(data.keys.distinct), { detail: data.keys.method === "exact" ? "counted" : "estimated" }),
    tile("Tombstones", count(data.tombstones), { detail: `${count(data.transactional_messages)} in transactions` }),
  );
}

function sizes(data) {
  if (data.size_powers.length === 0) return h("p", { class: "empty" }, "There are no messages.");
  const { min, p50, p90, p99, max } = data.message_bytes;
  return [
    barChart({
      bars: data.size_powers.map(([power, amount]) => ({
        name: power === 0 ? "0 B" : `${bytes(power)} – ${bytes(power * 2)}`, value: amount,
      })),
      format: count, label: "Messages by size",
    }),
    h("div", { class: "size-facts" }, facts([
      ["Smallest", bytes(min)], ["Half are below", bytes(p50)], ["90% are below", bytes(p90)],
      ["99% are below", bytes(p99)], ["Largest", bytes(max)],
    ])),
  ];
}

function keys(data) {
  if (data.keys.top.length === 0) return h("p", { class: "empty" }, "No message has a key.");
  return barChart({
    bars: data.keys.top.map((each) => ({ name: each.key, value: each.share })),
    format: percent, label: "Share of messages by key",
  });
}

function keyNote({ keys: { keyed_messages: keyed, null_keys: none, top_undercount_max: off } }) {
  const parts = [`${count(keyed)} messages with a key, ${count(none)} without`];
  if (off > 0) parts.push(`counts may be too small by ${count(off)}`);
  return parts.join("; ");
}

function partitions(view, data) {
  const messages = data.partitions.reduce((sum, each) => sum + each.messages, 0);
  return table(view, {
    id: "p", noun: "partition", rows: data.partitions, key: (row) => row.partition,
    columns: [
      { name: "partition", title: "Partition", value: (row) => row.partition },
      { name: "bytes", title: "On disk", align: "right", value: (row) => row.stored_bytes, show: (row) => told(row.stored_bytes, bytes) },
      { name: "held", title: "Offsets", align: "right", value: (row) => row.end - row.start, show: (row) => count(row.end - row.start) },
      { name: "messages", title: "Read", align: "right", value: (row) => row.messages, show: (row) => count(row.messages) },
      { name: "share", title: "Share", align: "right", value: (row) => row.messages, show: (row) => (messages ? percent(row.messages / messages) : "–") },
      { name: "mean", title: "Mean size", align: "right", class: "secondary", value: (row) => row.mean_bytes, show: (row) => bytes(row.mean_bytes) },
      { name: "ratio", title: "Compression", align: "right", class: "secondary", value: (row) => row.ratio, show: (row) => `${row.ratio.toFixed(1)}×` },
      { name: "keys", title: "Keys", align: "right", class: "secondary", value: (row) => row.keys, show: (row) => count(row.keys) },
    ],
  });
}

function codecs(data) {
  const rows = Object.entries(data.compression.codecs).map(([codec, totals]) => ({ codec, ...totals }));
  if (rows.length === 0) return h("p", { class: "empty" }, "There are no batches.");
  return h("div", { class: "table-scroll" }, h("table", {},
    h("thead", {}, h("tr", {}, ["Codec", "Batches", "Stored", "Uncompressed", "Ratio"].map((title, index) =>
      h("th", { scope: "col", key: title, class: index ? "right" : undefined }, title)))),
    h("tbody", {}, rows.map((row) => h("tr", { key: row.codec },
      h("th", { scope: "row" }, row.codec),
      h("td", { class: "right" }, count(row.batches)),
      h("td", { class: "right" }, bytes(row.stored_bytes)),
      h("td", { class: "right" }, bytes(row.uncompressed_bytes)),
      h("td", { class: "right" }, `${row.ratio.toFixed(1)}×`))))));
}

function pageOf(view) {
  return view.params.topic ? one : all;
}

export const storage = {
  title: (view) => pageOf(view).title(view),
  trail: (view) => pageOf(view).trail?.(view) ?? [],
  actions: (view, data) => pageOf(view).actions?.(view, data),
  load: (view) => pageOf(view).load(view),
  draw: (view, data) => pageOf(view).draw(view, data),
  refresh_ms: 0,
};

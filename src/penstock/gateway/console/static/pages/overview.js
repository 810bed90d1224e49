/** The cluster at a glance: is it well, how much comes in, where it lies, who is behind. */

import { api } from "../parts/api.js";
import { card, notes, state, tile, tiles } from "../parts/card.js";
import { barChart, lineChart, meter } from "../parts/chart.js";
import { h } from "../parts/dom.js";
import { bytes, count, percent, plural, rate, told, untold } from "../parts/format.js";
import { link } from "../parts/route.js";

const WORDS = { healthy: ["Healthy", "good"], degraded: ["Degraded", "warn"], down: ["In trouble", "bad"] };
const FULL = { warn: 0.8, bad: 0.92 };

export const overview = {
  title: "Overview",
  load: (view) => api.get("overview", { signal: view.signal }),
  draw: (view, data) => [
    health(data),
    numbers(data),
    h("div", { class: "columns" },
      card("Messages in", lineChart({
        series: [{ name: "Messages", points: data.messages_per_second }], format: rate, label: "Messages in per second",
      }), { note: "per second, without internal topics" }),
      card("Stored", lineChart({
        series: [{ name: "Bytes", points: data.stored_bytes }], format: bytes, label: "Bytes stored",
      }), { note: "leaders’ replicas, all topics" }),
      card("Busiest topics", barChart({
        bars: data.busiest.map(({ topic, rate: value }) => ({ name: topic, value, href: link("topics", topic) })),
        format: rate, label: "Messages a second by topic",
      })),
      card("Most behind", data.lags.length === 0
        ? h("p", { class: "empty" }, "No consumer group has committed anything yet.")
        : barChart({
            bars: data.lags.map(({ group, lag }) => ({ name: group, value: lag, href: link("groups", group) })),
            format: count, label: "Lag by consumer group",
          }), { note: "messages to go, by consumer group" }),
      card("Disks", disks(data), { wide: true })),
    notes(data.notes),
  ],
};

function health(data) {
  const [word, tone] = WORDS[data.health.state];
  return h("div", { class: `banner ${tone}`, role: "status" },
    state(word, tone),
    data.health.findings.length === 0
      ? h("span", { class: "muted" }, "Every partition has a leader and all of its replicas.")
      : h("ul", {}, data.health.findings.map((finding) => h("li", { key: finding.text },
          finding.page ? h("a", { href: `/console/${finding.page}` }, finding.text) : finding.text))));
}

function numbers({ counts, controller, rate_now: now, stored_bytes_now: stored, brokers }) {
  return tiles(
    tile("Brokers", `${counts.brokers_up} / ${brokers.length}`, {
      detail: controller === null ? "no controller" : `controller: ${controller}`,
      tone: counts.brokers_up < brokers.length ? "bad" : undefined, href: link("brokers"),
    }),
    tile("Topics", count(counts.topics), { detail: plural(counts.partitions, "partition"), href: link("topics") }),
    tile("Messages in", told(now, rate), { detail: "now" }),
    tile("Stored", told(stored, bytes), { detail: "one replica of each" }),
    tile("Under-replicated", count(counts.under_replicated), {
      detail: "partitions", tone: counts.under_replicated ? "warn" : undefined,
      href: link("topics", { q: counts.under_replicated ? "under-replicated" : "" }),
    }),
    tile("Without leader", count(counts.offline), { detail: "partitions", tone: counts.offline ? "bad" : undefined }),
    tile("Groups", told(counts.groups, count), { detail: "of consumers", href: link("groups") }),
  );
}

function disks({ brokers }) {
  const rows = brokers.flatMap((broker) => (broker.directories ?? [null]).map((directory) => ({ broker, directory })));
  return h("div", { class: "table-scroll" }, h("table", {},
    h("thead", {}, h("tr", {},
      h("th", { scope: "col" }, "Broker"), h("th", { scope: "col", class: "secondary" }, "Directory"),
      h("th", { scope: "col", class: "right" }, "Logs"), h("th", { scope: "col" }, "Volume"))),
    h("tbody", {}, rows.map(({ broker, directory }, index) => h("tr", { key: index },
      h("th", { scope: "row" }, h("a", { href: link("brokers", broker.id) }, `Broker ${broker.id}`)),
      h("td", { class: "mono secondary" }, directory?.path ?? untold()),
      h("td", { class: "right" }, told(directory?.bytes, bytes)),
      h("td", {}, volume(directory)))))));
}

function volume(directory) {
  if (!directory?.volume_bytes || directory.usable_bytes === null) return untold();
  const share = 1 - directory.usable_bytes / directory.volume_bytes;
  const tone = share > FULL.bad ? "bad" : share > FULL.warn ? "warn" : "";
  const words = `${percent(share)} of ${bytes(directory.volume_bytes)} used`;
  return [meter(share, words, tone), words];
}

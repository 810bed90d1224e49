/** Pipelines that run somewhere: their flows, how fast each is, and how far behind. */

import { api } from "../parts/api.js";
import { card, empty, notes, state, tile, tiles } from "../parts/card.js";
import { lineChart } from "../parts/chart.js";
import { h } from "../parts/dom.js";
import { bytes, count, duration, moment, plural, rate, told } from "../parts/format.js";
import { link } from "../parts/route.js";
import { facts, table } from "../parts/table.js";

const TONES = { running: "good", ended: "", silent: "warn", failed: "bad" };

const all = {
  title: () => "Pipelines",
  draw: (view, { pipelines }) => (pipelines.length === 0 ? none() : card("Pipelines", table(view, {
    noun: "pipeline", rows: pipelines, key: (row) => row.pipeline, href: (row) => link("pipelines", row.pipeline),
    columns: [
      { name: "pipeline", title: "Pipeline", value: (row) => row.pipeline },
      { name: "state", title: "State", value: (row) => row.state, show: (row) => state(row.state, TONES[row.state]) },
      { name: "flows", title: "Flows", align: "right", value: (row) => row.flows.length },
      { name: "rate", title: "Rows", align: "right", value: (row) => sum(row, "rows_per_second"), show: (row) => told(sum(row, "rows_per_second"), rate) },
      { name: "lag", title: "Lag", align: "right", value: (row) => sum(row, "lag"), show: (row) => told(sum(row, "lag"), count) },
      { name: "host", title: "Runs on", class: "secondary", value: (row) => row.host ?? "" , show: (row) => (row.host ? `${row.host}, process ${row.pid}` : "–") },
      { name: "started", title: "Since", class: "secondary", value: (row) => row.started_ms, show: (row) => (row.started_ms ? moment(row.started_ms) : "–") },
    ],
  }))),
};

const one = {
  title: (view) => view.params.pipeline,
  trail: () => [["Pipelines", link("pipelines")]],
  draw: (view, { pipelines }) => {
    const found = pipelines.find((each) => each.pipeline === view.params.pipeline);
    if (!found) return empty("Nothing was heard of a pipeline of that name.", h("a", { href: link("pipelines") }, "All pipelines"));
    return [
      tiles(
        tile("State", state(found.state, TONES[found.state]), { detail: plural(found.flows.length, "flow") }),
        tile("Rows", told(sum(found, "rows_per_second"), rate), { detail: "processed" }),
        tile("Lag", told(sum(found, "lag"), count), { detail: "records to go" }),
        tile("Runs on", found.host ?? "–", { detail: found.pid ? `process ${found.pid}` : undefined }),
        tile("Running for", found.started_ms ? duration(Date.now() - found.started_ms) : "–", { detail: found.file ?? undefined })),
      found.flows.map((flow) => flowCard(flow)),
    ];
  },
};

function sum(pipeline, name) {
  const values = pipeline.flows.map((flow) => flow.progress?.[name]).filter((value) => typeof value === "number");
  return values.length ? values.reduce((left, right) => left + right, 0) : null;
}

function flowCard(flow) {
  const progress = flow.progress;
  return card(flow.flow, [
    flow.failure && h("p", { class: "problem", role: "alert", key: "failure" }, failureWords(flow.failure)),
    progress ? flowFacts(flow, progress) : h("p", { class: "muted", key: "facts" }, "No micro-batch has ended yet."),
    flow.points.length > 0 && h("div", { class: "columns flow-plots", key: "plots" },
      h("div", { key: "rates" }, h("h3", {}, "Rows per second"), lineChart({
        series: [
          { name: "Processed", points: flow.points.map(([at, processed]) => [at, processed]) },
          { name: "Arrived", points: flow.points.map(([at, , arrived]) => [at, arrived]) },
        ],
        format: rate, height: 150, label: "Rows per second",
      })),
      flow.points.some(([, , , lag]) => lag !== null) && h("div", { key: "lag" }, h("h3", {}, "Lag"), lineChart({
        series: [{ name: "Lag", points: flow.points.map(([at, , , lag]) => [at, lag]) }],
        format: count, height: 150, label: "Records behind",
      }))),
  ], { tools: state(flow.state, TONES[flow.state]), wide: true });
}

function flowFacts(flow, progress) {
  const aside = Object.entries(flow.side_records ?? {});
  return facts([
    ["Micro-batch", count(progress.batch)],
    ["It took", duration(progress.duration_ms)],
    ["Rows in it", count(progress.rows)],
    ["Lag", told(progress.lag, count)],
    ["Watermark", progress.watermark ? moment(Date.parse(progress.watermark)) : "none"],
    ["State", `${plural(progress.state_rows, "row")}, ${bytes(progress.state_bytes)}`],
    ["Late rows", count(progress.late_rows)],
    aside.length > 0 && ["Left aside", aside.map(([topic, amount]) => `${count(amount)} to ${topic}`).join(", ")],
    ["Heard of", `${duration(Date.now() - flow.at_ms)} ago`],
  ]);
}

function failureWords({ step, cause, hint }) {
  return [step && `Step ${step}: `, cause, hint && ` ${hint}`].filter(Boolean).join("");
}

function none() {
  return empty(
    "No pipeline has told of itself. They do so while they run with penstock pipeline run.",
    h("code", {}, "penstock pipeline init orders.yml"));
}

function pageOf(view) {
  return view.params.pipeline ? one : all;
}

export const pipelines = {
  title: (view) => pageOf(view).title(view),
  trail: (view) => pageOf(view).trail?.(view) ?? [],
  load: (view) => api.get("pipelines", { signal: view.signal }),
  draw: (view, data) => [
    pageOf(view).draw(view, data),
    !data.is_complete && notes(["What pipelines wrote is still being read; more appears in a moment."]),
  ],
  refresh_ms: 3000,
};

/**
 * Plots of our own, as SVG: <line-chart> over time and <bar-chart> of named amounts.
 *
 * They draw themselves for the width they have, and again when it changes. What a plot shows is also said in
 * words, for those who do not see it.
 */

import { h, render } from "./dom.js";
import { bytes, clock, count } from "./format.js";
import { niceTicks, timeTicks } from "./ticks.js";

const MARGIN = { top: 10, right: 12, bottom: 22, left: 56 };
const GAP_FACTOR = 3;

class Chart extends HTMLElement {
  #data = null;
  #observer = new ResizeObserver(() => this.draw());

  set data(value) {
    this.#data = value;
    if (this.isConnected) this.draw();
  }

  get data() {
    return this.#data;
  }

  connectedCallback() {
    this.#observer.observe(this);
    this.draw();
  }

  disconnectedCallback() {
    this.#observer.disconnect();
  }

  draw() {
    const width = Math.floor(this.clientWidth);
    if (this.#data && width > 0) render(this, this.content(this.#data, width));
  }
}

/**
 * `data`: `{series: [{name, points: [[time_ms, value or null], ...]}], format, height, label}`.
 *
 * A missing value, or moments far apart, break the line.
 */
class LineChart extends Chart {
  #pointer = null;

  content({ series, format = count, height = 180, label = "Plot", from, to, area = true }, width) {
    const drawn = series.filter((each) => each.points.some(([, value]) => value !== null));
    if (drawn.length === 0) return emptyPlot(height, label);
    const scale = scaleOf(drawn, { width, height, from, to, isBinary: format === bytes });
    const nearest = this.#pointer === null ? null : nearestTime(drawn, scale.time(this.#pointer));
    return [
      h("svg", {
        width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": spoken(label, drawn, format),
        onpointermove: (event) => { this.#pointer = event.offsetX; this.draw(); },
        onpointerleave: () => { this.#pointer = null; this.draw(); },
      },
      grid(scale, format),
      drawn.map((each, index) => lineOf(each, index, scale, area && drawn.length === 1)),
      nearest !== null && crosshair(drawn, nearest, scale)),
      nearest !== null && tooltip(drawn, nearest, scale, format),
      drawn.length > 1 && legend(drawn),
    ];
  }
}

/** `data`: `{bars: [{name, value, href, tone}], format, label}`; the longest one sets the scale. */
class BarChart extends Chart {
  content({ bars, format = count, label = "Plot", most }, width) {
    const largest = most ?? Math.max(...bars.map((bar) => bar.value), 0);
    if (bars.length === 0) return h("p", { class: "empty" }, "Nothing to show yet.");
    return h("ul", { class: width < 340 ? "bars narrow" : "bars", "aria-label": label }, bars.map((bar) =>
      h("li", { key: bar.name },
        bar.href ? h("a", { href: bar.href, title: bar.name }, bar.name) : h("span", { title: bar.name }, bar.name),
        h("svg", { class: "bar", viewBox: "0 0 100 8", preserveAspectRatio: "none", "aria-hidden": "true" },
          h("rect", { class: "bar-ground", width: 100, height: 8 }),
          h("rect", {
            class: `bar-fill ${bar.tone ?? ""}`, height: 8,
            width: largest > 0 ? Math.max(bar.value > 0 ? 0.8 : 0, (100 * bar.value) / largest) : 0,
          })),
        h("span", { class: "number" }, format(bar.value)))));
  }
}

customElements.define("line-chart", LineChart);
customElements.define("bar-chart", BarChart);

/** A line over time; see LineChart. */
export function lineChart(data) {
  return h("line-chart", { class: "chart", data, style: { "min-height": `${data.height ?? 180}px` } });
}

/** Bars of named amounts; see BarChart. */
export function barChart(data) {
  return h("bar-chart", { class: "chart", data });
}

/** A thin bar for a share between 0 and 1, such as how full a disk is. */
export function meter(share, label, tone = "") {
  const width = Math.max(0, Math.min(1, share)) * 100;
  return h("svg", {
    class: "meter", viewBox: "0 0 100 6", preserveAspectRatio: "none", role: "img", "aria-label": label,
  },
  h("rect", { class: "bar-ground", width: 100, height: 6 }),
  h("rect", { class: `bar-fill ${tone}`, width, height: 6 }));
}

function scaleOf(series, { width, height, from, to, isBinary }) {
  const points = series.flatMap((each) => each.points);
  const times = points.map(([time]) => time);
  const values = points.map(([, value]) => value ?? 0);
  const first = from ?? Math.min(...times);
  const last = Math.max(to ?? Math.max(...times), first + 1000);
  const ticks = niceTicks(Math.max(...values, 0), height < 120 ? 2 : 4, isBinary);
  const top = ticks.at(-1);
  const plot = { width: width - MARGIN.left - MARGIN.right, height: height - MARGIN.top - MARGIN.bottom };
  return {
    width, height, first, last, ticks, plot,
    x: (time) => MARGIN.left + ((time - first) / (last - first)) * plot.width,
    y: (value) => MARGIN.top + plot.height - (value / top) * plot.height,
    time: (x) => first + ((x - MARGIN.left) / plot.width) * (last - first),
  };
}

function grid(scale, format) {
  const right = scale.width - MARGIN.right;
  const bottom = scale.height - MARGIN.bottom;
  return h("g", { class: "grid", key: "grid" },
    scale.ticks.map((tick) => h("g", { key: `y${tick}` },
      h("line", { x1: MARGIN.left, x2: right, y1: scale.y(tick), y2: scale.y(tick) }),
      h("text", { x: MARGIN.left - 8, y: scale.y(tick) + 4, "text-anchor": "end" }, format(tick).replace(/\.0(?= )/, "")))),
    timeTicks(scale.first, scale.last, Math.max(2, Math.floor(scale.plot.width / 110))).map((time) =>
      h("text", { key: `x${time}`, x: scale.x(time), y: bottom + 16, "text-anchor": "middle" },
        clock(time).slice(0, scale.last - scale.first < 180_000 ? 8 : 5))));
}

function lineOf(each, index, scale, hasArea) {
  const runs = runsOf(each.points);
  const path = runs.map((run) => run.map(([time, value], step) =>
    `${step === 0 ? "M" : "L"}${scale.x(time).toFixed(1)} ${scale.y(value).toFixed(1)}`).join("")).join("");
  const base = scale.y(0).toFixed(1);
  const filled = runs.filter((run) => run.length > 1).map((run) => {
    const outline = run.map(([time, value]) => `L${scale.x(time).toFixed(1)} ${scale.y(value).toFixed(1)}`).join("");
    return `M${scale.x(run[0][0]).toFixed(1)} ${base}${outline}L${scale.x(run.at(-1)[0]).toFixed(1)} ${base}Z`;
  }).join("");
  return h("g", { class: `series s${index % 6}`, key: each.name },
    hasArea && h("path", { class: "area", d: filled }),
    h("path", { class: "line", d: path }),
    runs.filter((run) => run.length === 1).map(([[time, value]]) =>
      h("circle", { cx: scale.x(time), cy: scale.y(value), r: 2 })));
}

/** The points between gaps; moments much farther apart than usual are a gap too. */
function runsOf(points) {
  const steps = points.slice(1).map(([time], index) => time - points[index][0]).sort((a, b) => a - b);
  const usual = steps.length ? steps[Math.floor(steps.length / 2)] : Infinity;
  const runs = [[]];
  points.forEach(([time, value], index) => {
    if (value === null) return void (runs.at(-1).length && runs.push([]));
    if (index > 0 && time - points[index - 1][0] > usual * GAP_FACTOR && runs.at(-1).length) runs.push([]);
    runs.at(-1).push([time, value]);
  });
  return runs.filter((run) => run.length);
}

function nearestTime(series, wanted) {
  let best = null;
  for (const [time] of series.flatMap((each) => each.points)) {
    if (best === null || Math.abs(time - wanted) < Math.abs(best - wanted)) best = time;
  }
  return best;
}

function valuesAt(series, time) {
  return series.map((each) => ({ name: each.name, value: each.points.find(([at]) => at === time)?.[1] ?? null }));
}

function crosshair(series, time, scale) {
  const x = scale.x(time);
  return h("g", { class: "crosshair", key: "crosshair" },
    h("line", { x1: x, x2: x, y1: MARGIN.top, y2: scale.height - MARGIN.bottom }),
    valuesAt(series, time).map(({ value }, index) => value !== null
      && h("circle", { class: `s${index % 6}`, cx: x, cy: scale.y(value), r: 3.5 })));
}

function tooltip(series, time, scale, format) {
  const x = scale.x(time);
  const isRight = x > scale.width / 2;
  const place = isRight ? { right: `${scale.width - x + 10}px` } : { left: `${x + 10}px` };
  return h("div", { class: "tooltip", key: isRight ? "tip-right" : "tip-left", style: place },
    h("span", { class: "muted" }, clock(time)),
    valuesAt(series, time).map(({ name, value }, index) => h("div", { key: name },
      h("i", { class: `swatch s${index % 6}` }), series.length > 1 && `${name} `,
      h("b", {}, value === null ? "gap" : format(value)))));
}

function legend(series) {
  return h("div", { class: "legend", key: "legend" }, series.map((each, index) =>
    h("span", { key: each.name }, h("i", { class: `swatch s${index % 6}` }), each.name)));
}

function emptyPlot(height, label) {
  return h("div", { class: "plot-empty", style: { height: `${height}px` }, "aria-label": label },
    "The first points appear within seconds.");
}

function spoken(label, series, format) {
  const told = series.map((each) => {
    const values = each.points.map(([, value]) => value).filter((value) => value !== null);
    return `${each.name}: ${format(values.at(-1))} now, at most ${format(Math.max(...values))}`;
  });
  return `${label}. ${told.join("; ")}.`;
}

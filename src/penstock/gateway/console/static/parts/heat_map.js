/** A heat map as SVG: rows with names, columns of time, and a colour for how much. */

import { h } from "./dom.js";
import { count, moment } from "./format.js";

const ROW = 18;
const LEFT = 56;
const BOTTOM = 20;
const WIDTH = 900;
const LEVELS = 6;

/** `rows` are `[{name, counts}]`; `start_ms` and `bucket_ms` tell the time of each column. */
export function heatMap({ rows, start_ms: start, bucket_ms: width, label }) {
  const columns = rows[0]?.counts.length ?? 0;
  const most = Math.max(1, ...rows.flatMap((row) => row.counts));
  const cell = (WIDTH - LEFT) / Math.max(1, columns);
  const height = rows.length * ROW + BOTTOM;
  const ends = [0, Math.floor(columns / 2), columns - 1].filter((each, index, all) => all.indexOf(each) === index);
  return h("svg", { class: "heat", viewBox: `0 0 ${WIDTH} ${height}`, role: "img", "aria-label": label },
    rows.map((row, y) => h("g", { key: row.name },
      h("text", { x: LEFT - 8, y: y * ROW + 13, "text-anchor": "end" }, row.name),
      row.counts.map((amount, x) => h("rect", {
        key: x, class: `h${level(amount, most)}`, x: LEFT + x * cell, y: y * ROW + 1,
        width: Math.max(1, cell - 1), height: ROW - 2,
      }, h("title", {}, `${row.name}: ${count(amount)} from ${moment(start + x * width)}`))))),
    ends.map((x, index) => h("text", {
      key: `t${x}`, x: LEFT + x * cell + (index === ends.length - 1 && x > 0 ? cell : 0), y: height - 4,
      "text-anchor": index === 0 ? "start" : index === ends.length - 1 ? "end" : "middle",
    }, moment(start + x * width).slice(0, 16))));
}

/** 0 for nothing, then by the square root, so that little is still seen beside much. */
function level(amount, most) {
  return amount === 0 ? 0 : Math.max(1, Math.ceil(Math.sqrt(amount / most) * LEVELS));
}

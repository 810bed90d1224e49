/** Two versions of a schema: side by side, or below each other where there is less room. */

import { h } from "../parts/dom.js";
import { plural } from "../parts/format.js";

const SIGNS = { added: "+", removed: "−", same: " " };
const AROUND = 4;

/** The difference as a table; long stretches that are the same are folded. */
export function differenceView(view, { rows }) {
  const changes = rows.filter((row) => row.kind !== "same").length;
  if (changes === 0) return h("p", { class: "empty" }, "Both versions are the same, line by line.");
  const isInline = view.query.get("inline") !== null || matchMedia("(max-width: 820px)").matches;
  const shown = folded(rows);
  return [
    h("p", { class: "muted", key: "count" }, `${plural(changes, "line")} changed`),
    h("div", { class: "code difference", key: "rows" }, h("table", { "aria-label": "Difference", class: isInline ? "inline" : undefined },
      h("tbody", {}, shown.flatMap((row, index) => (isInline ? inline(row, index) : [split(row, index)]))))),
  ];
}

function folded(rows) {
  const near = rows.map((_, index) => rows.slice(Math.max(0, index - AROUND), index + AROUND + 1).some((row) => row.kind !== "same"));
  const shown = [];
  rows.forEach((row, index) => {
    if (near[index]) shown.push(row);
    else if (shown.at(-1)?.kind === "folded") shown.at(-1).amount += 1;
    else shown.push({ kind: "folded", amount: 1 });
  });
  return shown;
}

function split(row, index) {
  if (row.kind === "folded") return fold(row, index, 4);
  return h("tr", { key: index },
    cell("number", row.left_number), cell(row.left === null ? "gap" : row.kind === "same" ? "" : "removed", row.left),
    cell("number", row.right_number), cell(row.right === null ? "gap" : row.kind === "same" ? "" : "added", row.right));
}

function inline(row, index) {
  if (row.kind === "folded") return [fold(row, index, 2)];
  if (row.kind === "same") return [line(`${index}`, row.left_number, "same", row.left)];
  return [
    row.left !== null && line(`${index}-`, row.left_number, "removed", row.left),
    row.right !== null && line(`${index}+`, row.right_number, "added", row.right),
  ].filter(Boolean);
}

function line(key, number, kind, text) {
  return h("tr", { key }, cell("number", number), cell(kind, `${SIGNS[kind]} ${text}`));
}

function cell(kind, content) {
  return h("td", { class: kind }, content ?? "");
}

function fold(row, index, span) {
  return h("tr", { key: index }, h("td", { colspan: String(span), class: "folded" }, `${plural(row.amount, "line")} alike`));
}

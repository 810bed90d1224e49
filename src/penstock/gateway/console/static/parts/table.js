/**
 * Tables: sorted by a click on a column, filtered as one types, and never longer than a screen can bear.
 *
 * What is sorted and filtered by stands in the address (`?q=...&sort=-size`), so that a link shows the same.
 */

import { h } from "./dom.js";
import { plural } from "./format.js";

const ROWS_AT_FIRST = 200;

/**
 * A table over `rows`.
 *
 * `columns` are `{name, title, value, show, align, width}`: `value(row)` is sorted and searched by, `show(row)` is
 * what stands in the cell. `id` keeps two tables of a page apart; `noun` counts rows; `href(row)` makes a row a
 * link; `filter: false` leaves out the search field.
 */
export function table(view, { id = "", columns, rows, noun = "row", href, empty, sort = "", filter, key, tools }) {
  const names = { q: id ? `${id}.q` : "q", sort: id ? `${id}.sort` : "sort", all: `${id}.all` };
  const text = view.query.get(names.q) ?? "";
  const order = view.query.get(names.sort) ?? sort;
  const found = sorted(filtered(rows, columns, text), columns, order);
  const shown = view.memory.get(names.all) ? found : found.slice(0, ROWS_AT_FIRST);
  const hasFilter = filter ?? rows.length > 8;
  return h("div", { class: "table-part" },
    (hasFilter || text || tools) && h("div", { class: "table-tools" },
      (hasFilter || text) && field(view, names.q, text, noun),
      (hasFilter || text) && h("span", { class: "muted", role: "status" }, counted(found, rows, noun)),
      tools && h("div", { class: "spread" }, tools)),
    rows.length === 0
      ? (empty ?? h("p", { class: "empty" }, `There are no ${noun}s.`))
      : h("div", { class: "table-scroll", tabindex: "0", role: "region", "aria-label": `${noun}s` },
          h("table", {},
            h("thead", {}, h("tr", {}, columns.map((column) => heading(view, column, names.sort, order)))),
            h("tbody", {}, shown.map((row, index) => line(row, columns, { href, key: key?.(row) ?? index }))))),
    rows.length > 0 && found.length === 0 && h("p", { class: "empty" }, `No ${noun} matches “${text}”.`),
    found.length > shown.length && h("button", {
      class: "more",
      onclick: () => { view.memory.set(names.all, true); view.redraw(); },
    }, `Show all ${plural(found.length, noun)}`));
}

/** Key and value below each other, for what is known of one thing: `[["Leader", 1], ...]`. */
export function facts(entries) {
  return h("dl", { class: "facts" }, entries.filter(Boolean).map(([name, value]) =>
    h("div", { key: name }, h("dt", {}, name), h("dd", {}, value))));
}

function field(view, name, text, noun) {
  return h("input", {
    type: "search", class: "filter", placeholder: `Filter ${noun}s`, "aria-label": `Filter ${noun}s`,
    value: text, spellcheck: "false", autocomplete: "off",
    oninput: (event) => { view.setQuery({ [name]: event.target.value }); view.redraw(); },
  });
}

function counted(found, rows, noun) {
  return found.length === rows.length ? plural(rows.length, noun) : `${found.length} of ${plural(rows.length, noun)}`;
}

function heading(view, column, name, order) {
  const isDown = order === `-${column.name}`;
  const isUp = order === column.name;
  const aria = isUp ? "ascending" : isDown ? "descending" : "none";
  const next = column.align === "right" ? (isDown ? column.name : `-${column.name}`)
    : (isUp ? `-${column.name}` : column.name);
  const className = [column.align, column.class].filter(Boolean).join(" ");
  if (!column.value) return h("th", { class: className, scope: "col" }, column.title);
  return h("th", { class: className, scope: "col", "aria-sort": aria },
    h("button", { onclick: () => { view.setQuery({ [name]: next }); view.redraw(); } },
      column.title, h("span", { class: "arrow", "aria-hidden": "true" }, isUp ? "↑" : isDown ? "↓" : "\u00a0")));
}

function line(row, columns, { href, key }) {
  const target = href?.(row);
  return h("tr", { key: `row-${key}`, class: target ? "linked" : undefined, onclick: target ? follow : undefined },
    columns.map((column, index) => {
      const content = column.show ? column.show(row) : String(column.value(row) ?? "");
      const className = [column.align, column.class].filter(Boolean).join(" ");
      const inside = target && index === 0 ? h("a", { href: target }, content) : content;
      return h(index === 0 ? "th" : "td",
        { class: className || undefined, scope: index === 0 ? "row" : undefined }, inside);
    }));
}

/** The whole row leads where its first cell leads; links and buttons in it are left alone. */
function follow(event) {
  if (event.target.closest("a, button, input") || String(getSelection())) return;
  event.currentTarget.querySelector("a")?.dispatchEvent(new MouseEvent("click", {
    bubbles: true, cancelable: true, ctrlKey: event.ctrlKey, metaKey: event.metaKey,
  }));
}

function filtered(rows, columns, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return rows;
  const searched = columns.filter((column) => column.value);
  return rows.filter((row) => {
    const all = searched.map((column) => String(column.value(row) ?? "")).join("\n").toLowerCase();
    return words.every((word) => all.includes(word));
  });
}

function sorted(rows, columns, order) {
  const name = order.replace(/^-/, "");
  const column = columns.find((each) => each.name === name && each.value);
  if (!column) return rows;
  const sign = order.startsWith("-") ? -1 : 1;
  return [...rows].sort((left, right) => sign * compared(column.value(left), column.value(right), sign));
}

/** What is not told stands at the end, whichever way one sorts. */
function compared(left, right, sign) {
  if (left === right) return 0;
  if (left === null || left === undefined) return sign;
  if (right === null || right === undefined) return -sign;
  if (typeof left === "number" && typeof right === "number") return left - right;
  return String(left).localeCompare(String(right), "en", { numeric: true });
}

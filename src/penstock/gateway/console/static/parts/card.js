/** The boxes that pages are made of: cards with a heading, tiles with one number, words of a state. */

import { h } from "./dom.js";

/**
 * A box with a heading, or without one where the page's title says enough (null).
 *
 * `note` stands beside the heading, `tools` at its right; `wide` takes the whole row.
 */
export function card(title, content, { tools, wide, note } = {}) {
  return h("section", { class: wide ? "card wide" : "card", key: title ?? "card" },
    title && h("header", {}, h("h2", {}, title), note && h("span", { class: "muted" }, note), tools),
    content);
}

/** One number and what it is; `tone` is good, warn or bad, `href` where more is told of it. */
export function tile(label, value, { detail, tone, href } = {}) {
  const inside = [
    h("span", { class: "tile-label" }, label),
    h("strong", { class: tone ? `tile-value ${tone}` : "tile-value" }, value),
    h("span", { class: "tile-detail" }, detail ?? " "),
  ];
  return href ? h("a", { class: "tile", href, key: label }, inside) : h("div", { class: "tile", key: label }, inside);
}

/** Several tiles in a row. */
export function tiles(...children) {
  return h("div", { class: "tiles" }, children);
}

/** A word for how something is, never told by its colour alone. */
export function state(word, tone = "") {
  return h("span", { class: `state ${tone}` }, word);
}

/** A small mark beside a name. */
export function badge(text, title) {
  return h("span", { class: "badge", title }, text);
}

/** Sentences about what could not be found out. */
export function notes(sentences) {
  if (!sentences?.length) return null;
  return h("ul", { class: "notes", key: "notes" }, sentences.map((sentence) => h("li", { key: sentence }, sentence)));
}

/** What is shown where nothing is yet, with what to do about it. */
export function empty(text, action) {
  return h("div", { class: "empty" }, h("p", {}, text), action);
}

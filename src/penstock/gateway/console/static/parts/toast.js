/** Short news at the edge of the page, read out by screen readers, gone by itself. */

import { build, h } from "./dom.js";

const SHOWN_MS = { good: 4000, bad: 10_000 };
const TOASTS_MAX = 4;

/** Say something; `kind` is "good" or "bad". */
export function toast(text, kind = "good") {
  const where = document.getElementById("toasts");
  const close = () => node.remove();
  const node = build(
    h("div", { class: `toast ${kind}` },
      h("span", {}, text),
      h("button", { class: "icon", "aria-label": "Dismiss", onclick: close }, "×")),
  );
  where.append(node);
  while (where.children.length > TOASTS_MAX) where.firstChild.remove();
  setTimeout(close, SHOWN_MS[kind]);
}

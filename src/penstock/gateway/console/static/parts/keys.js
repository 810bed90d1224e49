/** The keyboard: `g` and a letter goes to a page, single keys do what the help tells. */

import { show } from "./dialog.js";
import { h } from "./dom.js";

const SEQUENCE_MS = 1200;

/**
 * Listen to keys. `pages` have `{key, title, href}`, `commands` are `{key, title, run}`.
 *
 * Nothing is taken from whoever types into a field, or from a dialog that is open.
 */
export function listen({ pages, commands, go }) {
  let begun_ms = 0;
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
    if (document.querySelector("dialog[open]")) return;
    const isSecond = Date.now() - begun_ms < SEQUENCE_MS;
    begun_ms = 0;
    const page = isSecond && pages.find((each) => each.key === event.key);
    const command = !isSecond && commands.find((each) => each.key === event.key);
    if (page) go(page.href);
    else if (command) command.run();
    else if (event.key === "g") begun_ms = Date.now();
    else return;
    event.preventDefault();
  });
}

/** What can be pressed. */
export function help({ pages, commands }) {
  const line = (keys, title) => h("div", { key: title },
    h("dt", {}, keys.map((key) => h("kbd", { key }, key))), h("dd", {}, title));
  show({
    title: "Keyboard",
    body: h("div", { class: "key-lists" },
      h("dl", { class: "key-list" }, pages.map((page) => line(["g", page.key], page.title))),
      h("dl", { class: "key-list" }, commands.map((each) => line([each.key], each.title)),
        line(["Esc"], "Close a dialog"))),
  });
}

function isTyping(target) {
  return target instanceof Element && target.closest("input, textarea, select, [contenteditable]") !== null;
}

/** Going somewhere by its name: pages, topics, groups and schemas, found as one types. */

import { api } from "./api.js";
import { build, h, render } from "./dom.js";
import { link } from "./route.js";

const FOUND_MAX = 14;

/** Open the search; `pages` have `{title, href}`, `go` follows an address. */
export function openSearch({ pages, go }) {
  const state = { text: "", at: 0, names: [] };
  const dialog = build(h("dialog", { class: "dialog palette", "aria-label": "Search" }));
  const close = () => { dialog.close(); dialog.remove(); };
  const follow = (entry) => { close(); go(entry.href); };
  const found = () => matching([...pages.map(pageEntry), ...state.names], state.text);
  const onKey = (event) => {
    const entries = found();
    if (event.key === "ArrowDown") state.at = Math.min(state.at + 1, entries.length - 1);
    else if (event.key === "ArrowUp") state.at = Math.max(state.at - 1, 0);
    else if (event.key === "Enter" && entries[state.at]) return void (event.preventDefault(), follow(entries[state.at]));
    else return;
    event.preventDefault();
    draw();
  };
  const draw = () => {
    const entries = found();
    render(dialog, h("div", { class: "palette-inside" },
      h("input", {
        type: "search", class: "palette-field", placeholder: "Go to a page, topic or group", role: "combobox",
        "aria-label": "Search", "aria-expanded": "true", "aria-controls": "found", autocomplete: "off",
        spellcheck: "false", "aria-activedescendant": entries.length ? `found-${state.at}` : undefined,
        onkeydown: onKey, oninput: (event) => { Object.assign(state, { text: event.target.value, at: 0 }); draw(); },
      }),
      h("ul", { id: "found", class: "palette-list", role: "listbox", "aria-label": "Found" },
        entries.map((entry, index) => h("li", {
          id: `found-${index}`, role: "option", "aria-selected": String(index === state.at),
          onclick: () => follow(entry),
        }, h("span", {}, entry.text), h("small", {}, entry.kind))),
        entries.length === 0 && h("li", { class: "empty" }, "Nothing of that name."))));
  };
  dialog.onclose = () => dialog.remove();
  dialog.onclick = (event) => { if (event.target === dialog) close(); };
  document.body.append(dialog);
  draw();
  dialog.showModal();
  api.get("names").then((names) => { state.names = entriesOf(names); if (dialog.open) draw(); }, () => {
    // Pages are found without the cluster; what it does not tell is not offered.
  });
}

function pageEntry(page) {
  return { text: page.title, kind: "page", href: page.href };
}

function entriesOf({ topics = [], groups = [] }) {
  return [
    ...topics.map((name) => ({ text: name, kind: "topic", href: link("topics", name) })),
    ...groups.map((name) => ({ text: name, kind: "group", href: link("groups", name) })),
  ];
}

/** Those that begin with the text come first, then those that have it somewhere. */
function matching(entries, text) {
  const wanted = text.trim().toLowerCase();
  const places = entries.map((entry) => ({ entry, place: entry.text.toLowerCase().indexOf(wanted) }));
  const fitting = places.filter(({ place }) => place >= 0);
  fitting.sort((left, right) => Math.min(left.place, 1) - Math.min(right.place, 1));
  return fitting.slice(0, FOUND_MAX).map(({ entry }) => entry);
}

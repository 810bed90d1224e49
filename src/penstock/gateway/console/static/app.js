/** The shell: navigation, the way from an address to a page, the theme and the keyboard. */

import { h, render } from "./parts/dom.js";
import { icon, logo } from "./parts/icons.js";
import { help, listen } from "./parts/keys.js";
import { ROOT, link, match } from "./parts/route.js";
import { openSearch } from "./parts/search.js";
import { applyTheme, nextTheme, theme } from "./parts/theme.js";
import { View } from "./parts/view.js";
import { NAVIGATION, PAGES, SECTIONS } from "./pages.js";

const side = document.getElementById("side");
const head = document.getElementById("top");
const body = document.getElementById("main");
const shell = document.getElementById("shell");

const entries = Object.entries(NAVIGATION).map(([name, entry]) => ({
  name, ...entry, href: entry.path ? link(entry.path) : `${ROOT}/`,
}));
const commands = [
  { key: "/", title: "Search", run: () => openSearch({ pages: entries, go }) },
  { key: "f", title: "Filter the table", run: () => body.querySelector("input.filter")?.focus() },
  { key: "r", title: "Refresh", run: () => current?.reload() },
  { key: "d", title: "Light, dark, or as the system", run: changeTheme },
  { key: "?", title: "This help", run: () => help({ pages: entries, commands }) },
];

let current = null;
let here = "";

/** Show the page of an address of ours. */
function go(href) {
  const url = new URL(href, location.href);
  if (url.href !== location.href) history.pushState(null, "", url);
  open();
}

async function open() {
  current?.end();
  current = null;
  shell.classList.remove("open");
  const found = match(PAGES, location.pathname);
  here = found?.page.under ?? found?.page.module ?? "";
  drawSide();
  const address = location.href;
  const page = found ? await loaded(found.page) : missing();
  if (address !== location.href) return;
  // A new page begins at its top, with nothing of the one before.
  render(body, []);
  scrollTo(0, 0);
  current = new View(page, found?.params ?? {}, { head, body, go });
  // What had the focus may have gone with the page before; it goes on from the content then.
  if (document.activeElement === document.body) body.focus({ preventScroll: true });
  await current.start();
}

async function loaded({ module, page }) {
  try {
    return (await import(`./pages/${module}.js`))[page];
  } catch (error) {
    return broken(error);
  }
}

function missing() {
  return {
    title: "Not found",
    draw: () => h("p", { class: "empty" }, "The console has no such page. ", h("a", { href: `${ROOT}/` }, "To the overview")),
  };
}

function broken(error) {
  return { title: "Not loaded", draw: () => h("p", { class: "problem" }, `This page could not be loaded: ${error.message}`) };
}

function changeTheme() {
  nextTheme();
  drawSide();
}

function drawSide() {
  const chosen = theme();
  render(side, [
    h("div", { class: "side-top" },
      h("a", { class: "brand", href: `${ROOT}/` }, logo(), h("span", {}, "Penstock")),
      h("button", {
        class: "icon menu", "aria-label": "Pages", "aria-expanded": String(shell.classList.contains("open")),
        onclick: () => { shell.classList.toggle("open"); drawSide(); },
      }, icon("menu"))),
    h("div", { class: "side-rest" },
      h("button", { class: "search-open", onclick: commands[0].run },
        icon("search"), h("span", {}, "Search"), h("kbd", {}, "/")),
      SECTIONS.map((section) => h("section", { key: section.title },
        h("h2", {}, section.title),
        h("ul", {}, section.pages.map((name) => entryOf(entries.find((each) => each.name === name)))))),
      h("div", { class: "side-foot" },
        h("button", { onclick: changeTheme, title: "Light, dark, or as the system (d)" },
          icon(chosen), h("span", {}, { system: "System theme", light: "Light", dark: "Dark" }[chosen])),
        h("button", { onclick: commands.at(-1).run, title: "Keyboard (?)" }, icon("help"), h("span", {}, "Keyboard")))),
  ]);
}

function entryOf(entry) {
  return h("li", { key: entry.name },
    h("a", { href: entry.href, "aria-current": here === entry.name ? "page" : undefined },
      icon(entry.name), h("span", {}, entry.title)));
}

/** Links to pages of ours are followed here; others, and those into a new tab, by the browser. */
function follow(event) {
  const anchor = event.target.closest?.("a[href]");
  if (!anchor || event.defaultPrevented || event.button !== 0) return;
  if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey || anchor.target || anchor.download) return;
  const url = new URL(anchor.href);
  const isOurs = url.origin === location.origin && `${url.pathname}/`.startsWith(`${ROOT}/`)
    && !url.pathname.startsWith(`${ROOT}/api/`) && !url.pathname.startsWith(`${ROOT}/static/`);
  if (!isOurs || anchor.getAttribute("href").startsWith("#")) return;
  event.preventDefault();
  go(url.href);
}

applyTheme();
document.addEventListener("click", follow);
addEventListener("popstate", open);
listen({ pages: entries, commands, go });
open();

/**
 * A page while it is open: loads its data, draws it, loads it again every few seconds, and ends.
 *
 * A page is `{title, load, draw, actions, tabs, trail, open, refresh_ms}`, of which only `draw` is needed:
 *
 * - `load(view)` resolves to the data; `draw(view, data)` is the tree of the page;
 * - `actions(view, data)` are buttons beside the title; `trail(view)` the links above it; `tabs(view, data)`
 *   those below it, as `[text, address, isHere]`;
 * - `open(view)` is called once; what it begins must end with `view.signal`;
 * - `refresh_ms` is how often to load again: 0 for never.
 */

import { h, render } from "./dom.js";
import { clock } from "./format.js";

const REFRESH_MS = 5000;
const PATIENCE_MS = 200;

export class View {
  #end = new AbortController();
  #timer = 0;
  #page;
  #isLoading = false;

  constructor(page, params, { head, body, go }) {
    this.#page = page;
    this.params = params;
    this.query = new URLSearchParams(location.search);
    /** What the page remembers while it is open. */
    this.memory = new Map();
    this.data = undefined;
    this.problem = null;
    this.loaded_ms = null;
    this.isPaused = false;
    this.head = head;
    this.body = body;
    /** Show another page, by its address. */
    this.go = go;
  }

  /** Aborted when the page is left. */
  get signal() {
    return this.#end.signal;
  }

  get title() {
    const title = this.#page.title;
    return typeof title === "function" ? title(this) : (title ?? "");
  }

  /** Begin. */
  async start() {
    document.title = this.title ? `${this.title} · Penstock` : "Penstock";
    this.#page.open?.(this);
    if (!this.#page.load) return this.redraw();
    const waiting = setTimeout(() => this.data === undefined && this.redraw(), PATIENCE_MS);
    this.signal.addEventListener("abort", () => clearTimeout(waiting));
    await this.reload();
  }

  /** Load the data again, and draw it. */
  async reload() {
    if (!this.#page.load || this.#isLoading || this.signal.aborted) return;
    clearTimeout(this.#timer);
    this.#isLoading = true;
    try {
      this.data = await this.#page.load(this);
      this.problem = null;
      this.loaded_ms = Date.now();
    } catch (error) {
      if (this.signal.aborted) return;
      this.problem = error;
    } finally {
      this.#isLoading = false;
    }
    if (this.signal.aborted) return;
    this.redraw();
    this.#plan();
  }

  /** Draw what is known, as after a change of the filter. */
  redraw() {
    if (this.signal.aborted) return;
    render(this.head, this.#header());
    render(this.body, this.#content());
  }

  /** Put values into the address, so that it can be shared; empty ones are taken out. */
  setQuery(values) {
    for (const [name, value] of Object.entries(values)) {
      if (value === "" || value === null || value === undefined) this.query.delete(name);
      else this.query.set(name, value);
    }
    const search = this.query.toString();
    history.replaceState(null, "", location.pathname + (search ? `?${search}` : ""));
  }

  /** Stop or go on loading again by itself. */
  pause(isPaused) {
    this.isPaused = isPaused;
    if (!isPaused) this.reload();
    this.redraw();
  }

  /** End it. */
  end() {
    clearTimeout(this.#timer);
    this.#end.abort();
  }

  #plan() {
    const wait_ms = this.#page.refresh_ms ?? REFRESH_MS;
    if (wait_ms === 0 || this.signal.aborted) return;
    this.#timer = setTimeout(() => {
      if (document.hidden || this.isPaused) this.#plan();
      else this.reload();
    }, wait_ms);
  }

  #header() {
    const trail = this.#page.trail?.(this) ?? [];
    const isKnown = this.data !== undefined || !this.#page.load;
    const tabs = isKnown ? (this.#page.tabs?.(this, this.data) ?? []) : [];
    return h("div", { class: "head" },
      h("div", { class: "head-line" },
        h("div", { class: "head-title" },
          trail.length > 0 && h("nav", { class: "trail", "aria-label": "Above this page" },
            trail.map(([text, href]) => h("a", { href, key: href }, text))),
          h("h1", {}, this.title)),
        h("div", { class: "actions" }, isKnown && this.#page.actions?.(this, this.data))),
      tabs.length > 0 && h("nav", { class: "tabs", "aria-label": "Parts of this page" },
        tabs.map(([text, href, isHere]) =>
          h("a", { href, key: href, "aria-current": isHere ? "page" : undefined }, text))));
  }

  #content() {
    if (this.#page.load && this.data === undefined) {
      return this.problem ? this.#failed() : skeleton();
    }
    return [
      h("div", { class: "stale-place", key: "stale" }, this.problem && h("p", { class: "stale", role: "alert" },
        `Not refreshed since ${clock(this.loaded_ms)}: ${this.problem.message}`)),
      h("div", { class: "content", key: "content" }, this.#page.draw(this, this.data)),
    ];
  }

  #failed() {
    const isMissing = this.problem.status === 404;
    return h("div", { class: "failed", role: "alert", key: "failed" },
      h("h2", {}, isMissing ? "There is nothing here" : "This could not be loaded"),
      h("p", {}, this.problem.message),
      h("button", { class: "primary", onclick: () => this.reload() }, "Try again"));
  }
}

function skeleton() {
  return h("div", { class: "skeleton", key: "skeleton", role: "status", "aria-label": "Loading" },
    h("div", { class: "bone tiles" }), h("div", { class: "bone large" }), h("div", { class: "bone" }));
}

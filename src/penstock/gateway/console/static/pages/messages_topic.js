/**
 * The messages of a topic: page after page, found by a filter, or live.
 *
 * What is shown is in the address: `filter` searches, `live` follows, `before`, `after` and `at` are pages. A search
 * and a live view are streams; they end with the page, or when somebody stops them.
 */

import { api, path } from "../parts/api.js";
import { notes } from "../parts/card.js";
import { meter } from "../parts/chart.js";
import { form } from "../parts/dialog.js";
import { h } from "../parts/dom.js";
import { count, exact, plural } from "../parts/format.js";
import { link } from "../parts/route.js";
import { readEvents } from "../parts/stream.js";
import { messageRows } from "./messages_rows.js";
import { exportMessages, sendMessage } from "./messages_send.js";

const LIVE_MAX = 500;
const FOUND_MAX = 500;
const DRAWN_EVERY_MS = 120;
const PAGE = 50;
const HINT = "Text, or key:alice, header.trace:7f, $.order.total > 100, not …";

export const topicMessages = {
  title: (view) => view.params.topic,
  trail: () => [["Messages", link("messages")]],
  actions: (view) => [
    h("a", { class: "button", href: link("topics", view.params.topic) }, "Topic"),
    h("button", { onclick: () => exportMessages(view.params.topic, filters(view)) }, "Export"),
    h("button", { class: "primary", onclick: () => sendMessage(view, { topic: view.params.topic }) }, "Produce"),
  ],
  load: async (view) => {
    stop(view);
    view.memory.delete("run");
    const page = await api.get(path("messages", view.params.topic), {
      signal: view.signal, query: { ...filters(view), filter: "", limit: PAGE, ...place(view) },
    });
    if (view.query.get("live")) follow(view, page.end);
    else if (view.query.get("filter")) search(view);
    return page;
  },
  draw: (view, page) => {
    const run = view.memory.get("run");
    const rows = run ? run.messages : page.messages;
    return [
      tools(view, page),
      h("section", { class: "card messages-card", key: "list", "aria-label": "Messages" },
        run ? progress(view, run) : pager(view, page),
        rows.length === 0 ? nothing(view, run) : messageRows(view, rows),
        !run && rows.length >= PAGE && pager(view, page, "bottom")),
      notes(run?.end?.notes ?? page.notes),
    ];
  },
};

function filters(view) {
  const names = ["filter", "partitions", "since", "until", "isolation"];
  return Object.fromEntries(names.map((name) => [name, view.query.get(name) ?? ""]));
}

function place(view) {
  return Object.fromEntries(["before", "after", "at"].map((name) => [name, view.query.get(name) ?? ""]));
}

/** Show something else of the same topic. */
function go(view, values) {
  view.setQuery({ before: "", after: "", at: "", live: "", ...values });
  view.reload();
}

// ---- What is chosen ---------------------------------------------------------------------------------------

function tools(view, page) {
  const isLive = Boolean(view.query.get("live"));
  return h("form", {
    class: "query", key: "query", role: "search",
    onsubmit: (event) => {
      event.preventDefault();
      go(view, { filter: event.target.elements.filter.value.trim() });
    },
  },
  h("input", {
    type: "search", name: "filter", class: "filter grow", placeholder: HINT, "aria-label": "Filter messages",
    initial: view.query.get("filter") ?? "", spellcheck: "false", autocomplete: "off", key: "filter",
    onsearch: (event) => { if (event.target.value === "" && view.query.get("filter")) go(view, { filter: "" }); },
  }),
  h("button", { class: "primary", type: "submit", key: "search" }, "Search"),
  partitionChoice(view, page),
  h("button", { type: "button", key: "jump", onclick: () => jump(view, page) }, "Jump to…"),
  h("button", {
    type: "button", key: "live", class: isLive ? "live on" : "live", "aria-pressed": String(isLive),
    onclick: () => go(view, { live: isLive ? "" : "1", filter: view.query.get("filter") ?? "" }),
  }, isLive ? "Live" : "Go live"),
  chosenTimes(view));
}

function partitionChoice(view, page) {
  const chosen = view.query.get("partitions") ?? "";
  const known = view.memory.get("partitions") ?? page.partitions.map((each) => each.partition);
  if (!chosen) view.memory.set("partitions", known);
  const options = [["", "All partitions"], ...known.map((number) => [String(number), `Partition ${number}`])];
  if (!options.some(([value]) => value === chosen)) options.push([chosen, `Partitions ${chosen}`]);
  return h("select", {
    key: "partitions", "aria-label": "Partitions", value: chosen,
    onchange: (event) => go(view, { partitions: event.target.value, filter: view.query.get("filter") ?? "" }),
  }, options.map(([value, text]) => h("option", { value, key: value, preset: value === chosen }, text)));
}

function chosenTimes(view) {
  const parts = ["since", "until"].filter((name) => view.query.get(name));
  if (parts.length === 0) return null;
  return h("p", { class: "chosen", key: "times" },
    parts.map((name) => h("span", { key: name }, `${name} ${view.query.get(name)} `)),
    h("button", { type: "button", class: "link", onclick: () => go(view, { since: "", until: "" }) }, "all times"));
}

function jump(view, page) {
  const [first] = page.partitions;
  return form({
    title: "Jump to", action: "Go",
    body: "A time shows what was written from then on. An offset opens that message.",
    fields: [
      { name: "at", label: "Time", type: "datetime-local", step: "1", hint: "Your own time zone." },
      { name: "offset", label: "Offset", type: "number", min: 0, step: 1 },
      { name: "partition", label: "Partition of the offset", type: "number", min: 0, value: String(first?.partition ?? 0) },
      { name: "since", label: "Search only from", type: "datetime-local", step: "1" },
      { name: "until", label: "Search only until", type: "datetime-local", step: "1" },
    ],
    submit: async ({ at, offset, partition, since, until }) => {
      if (offset !== null) return open(view, { partition: partition ?? 0, offset });
      if (at) return go(view, { at: String(new Date(at).getTime()), filter: "" });
      return go(view, { since: instant(since), until: instant(until), filter: view.query.get("filter") ?? "" });
    },
  });
}

function instant(text) {
  return text ? new Date(text).toISOString() : "";
}

function open(view, { partition, offset }) {
  const anchor = document.createElement("a");
  anchor.href = link("messages", view.params.topic, partition, offset);
  document.body.append(anchor);
  anchor.click();
  anchor.remove();
}

// ---- Pages ------------------------------------------------------------------------------------------------

function pager(view, page, key = "top") {
  const total = page.partitions.reduce((sum, each) => sum + each.end - each.start, 0);
  const isFirst = !view.query.get("before") && !view.query.get("after") && !view.query.get("at");
  return h("div", { class: "pager", key: `pager-${key}` },
    key === "top" && h("span", { class: "muted", role: "status" },
      `${exact(total)} offsets in ${plural(page.partitions.length, "partition")}`),
    h("div", { class: "spread" },
      h("button", { disabled: isFirst && page.newer === null, onclick: () => go(view, {}) }, "Newest"),
      h("button", { disabled: page.newer === null, onclick: () => go(view, { after: page.newer }) }, "← Newer"),
      h("button", { disabled: page.older === null, onclick: () => go(view, { before: page.older }) }, "Older →")));
}

function nothing(view, run) {
  if (run?.problem) return h("p", { class: "problem", key: "nothing", role: "alert" }, run.problem);
  if (run && !run.end) {
    return h("p", { class: "empty", key: "nothing" }, run.isLive ? "Nothing has come yet. New messages appear here by themselves." : "Searching…");
  }
  if (run) return h("p", { class: "empty", key: "nothing" }, "No message matches.");
  return h("p", { class: "empty", key: "nothing" }, "There is no message here.");
}

// ---- Streams ----------------------------------------------------------------------------------------------

/** A stream that is under way: what it has brought, and how to end it. */
function begin(view, run) {
  const ended = new AbortController();
  view.signal.addEventListener("abort", () => ended.abort());
  Object.assign(run, { messages: [], progress: null, end: null, problem: "", isRunning: true, ended });
  view.memory.set("run", run);
  return run;
}

function stop(view) {
  view.memory.get("run")?.ended.abort();
}

function search(view, { before = "", messages = [] } = {}) {
  const run = begin(view, { isLive: false, scannedBefore: 0 });
  run.messages = messages;
  stream(view, run, "search", { ...filters(view), limit: FOUND_MAX, before }, (name, data) => {
    if (name === "matches") run.messages = [...run.messages, ...data.messages];
    else if (name === "progress") run.progress = data;
    else if (name === "end") run.end = data;
  });
}

function follow(view, end) {
  const run = begin(view, { isLive: true, skipped: 0, seen: 0, cursor: new Map() });
  listen(view, run, end);
}

function listen(view, run, after) {
  stream(view, run, "tail", { ...filters(view), since: "", until: "", after }, (name, data) => {
    if (name === "start") run.cursor = cursorOf(data.after);
    if (name !== "messages") return;
    run.skipped += data.skipped;
    run.seen += data.messages.length;
    for (const each of data.messages) run.cursor.set(each.partition, each.offset + 1);
    run.messages = [...data.messages.reverse(), ...run.messages].slice(0, LIVE_MAX);
  });
}

async function stream(view, run, what, query, onEvent) {
  let timer = 0;
  const redraw = () => { timer ||= setTimeout(() => { timer = 0; view.redraw(); }, DRAWN_EVERY_MS); };
  try {
    await readEvents(path("messages", view.params.topic, what), {
      query, signal: run.ended.signal, onEvent: (name, data) => { onEvent(name, data); redraw(); },
    });
  } catch (error) {
    run.problem = error.message;
  }
  run.isRunning = false;
  clearTimeout(timer);
  if (view.memory.get("run") === run) view.redraw();
}

function cursorOf(text) {
  return new Map(text.split(",").filter(Boolean).map((part) => part.split(":").map(Number)));
}

function progress(view, run) {
  return h("div", { class: "pager", key: "progress" },
    h("div", { class: "progress", role: "status" }, run.isLive ? liveWords(run) : searchWords(run)),
    h("div", { class: "spread" }, run.isLive ? liveButtons(view, run) : searchButtons(view, run)));
}

function liveWords(run) {
  const words = [`${plural(run.seen, "message")} since it began`];
  if (run.skipped > 0) words.push(`${count(run.skipped)} more came too fast to be shown`);
  if (run.seen > LIVE_MAX) words.push(`the newest ${LIVE_MAX} are kept`);
  return [
    h("span", { class: run.isRunning ? "state good" : "state" }, run.isRunning ? "Live" : "Paused"),
    h("span", { class: "muted" }, words.join(", ")),
    run.problem && h("span", { class: "problem" }, run.problem),
  ];
}

function searchWords(run) {
  const told = run.progress;
  if (!told) return h("span", { class: "muted" }, run.problem || "Searching…");
  const share = told.total > 0 ? told.scanned / told.total : 1;
  const looked = `${exact(told.scanned)} of ${exact(told.total)} looked at in ${told.seconds.toFixed(1)} s`;
  return [
    run.isRunning && meter(share, looked),
    h("b", {}, `${plural(told.matched, "match", "matches")}`),
    h("span", { class: "muted" }, looked),
    h("span", { class: run.end?.is_complete ? "good" : "muted" }, outcome(run)),
    run.problem && h("span", { class: "problem" }, run.problem),
  ];
}

function outcome(run) {
  if (run.isRunning) return "";
  if (run.end?.is_complete) return "complete";
  return run.end ? "not complete: enough was found" : "stopped";
}

function searchButtons(view, run) {
  return [
    run.isRunning && h("button", { onclick: () => run.ended.abort() }, "Stop"),
    run.end?.before && h("button", { onclick: () => search(view, { before: run.end.before, messages: run.messages }) }, "Search on"),
    h("button", { onclick: () => go(view, { filter: "" }) }, "Clear"),
  ];
}

function liveButtons(view, run) {
  const text = [...run.cursor].map(([partition, offset]) => `${partition}:${offset}`).join(",");
  const resume = () => {
    run.ended = new AbortController();
    view.signal.addEventListener("abort", () => run.ended.abort());
    Object.assign(run, { isRunning: true, problem: "" });
    listen(view, run, text);
    view.redraw();
  };
  return [
    run.isRunning
      ? h("button", { onclick: () => run.ended.abort() }, "Pause")
      : h("button", { onclick: resume }, "Resume"),
    h("button", { onclick: () => { run.messages = []; view.redraw(); } }, "Clear"),
  ];
}

/** Schemas: all subjects, one subject with its versions, and what changed between two of them. */

import { api } from "../parts/api.js";
import { badge, card, notes, tile, tiles } from "../parts/card.js";
import { h } from "../parts/dom.js";
import { count, moment, plural } from "../parts/format.js";
import { jsonView } from "../parts/json_text.js";
import { link } from "../parts/route.js";
import { table } from "../parts/table.js";
import { changeLevel, checkSchema, deleteSubject, deleteVersion, registerSchema } from "./schemas_actions.js";
import { differenceView } from "./schemas_difference.js";

export const KINDS = { AVRO: "Avro", JSON: "JSON Schema", PROTOBUF: "Protobuf" };

const all = {
  title: () => "Schemas",
  actions: (view, data) => [
    h("button", { onclick: () => changeLevel(view, { level: data.level, levels: data.levels }) }, "Compatibility"),
    h("button", { class: "primary", onclick: () => registerSchema(view) }, "Register"),
  ],
  load: (view) => api.get("schemas", { signal: view.signal }),
  draw: (view, data) => [
    card("Subjects", table(view, {
      noun: "subject", rows: data.subjects, key: (row) => row.subject, filter: true,
      href: (row) => link("schemas", row.subject),
      empty: h("div", { class: "empty" }, h("p", {}, "No schema is registered yet. Serializers do it by themselves."),
        h("button", { class: "primary", onclick: () => registerSchema(view) }, "Register one")),
      columns: [
        { name: "subject", title: "Subject", value: (row) => row.subject },
        { name: "kind", title: "Kind", value: (row) => row.kind, show: (row) => KINDS[row.kind] ?? row.kind },
        { name: "version", title: "Version", align: "right", value: (row) => row.version },
        { name: "id", title: "Id", align: "right", class: "secondary", value: (row) => row.schema_id },
        {
          name: "level", title: "Compatibility", class: "secondary", value: (row) => row.level,
          show: (row) => [row.level, row.has_own_level && badge("own")],
        },
        { name: "mode", title: "Mode", class: "secondary", value: (row) => row.mode },
      ],
    }), { note: `${data.level} unless a subject says otherwise` }),
    data.problem && notes([`What is shown may be old: ${data.problem}.`]),
  ],
};

const one = {
  title: (view) => view.params.subject,
  trail: () => [["Schemas", link("schemas")]],
  actions: (view, data) => [
    h("button", { class: "danger", onclick: () => deleteSubject(view, data) }, "Delete"),
    h("button", { onclick: () => changeLevel(view, data) }, "Compatibility"),
    h("button", { onclick: () => checkSchema(view, data) }, "Check"),
    h("button", { class: "primary", onclick: () => registerSchema(view, data) }, "New version"),
  ],
  load: async (view) => {
    const data = await api.get("schemas/subject", { signal: view.signal, query: { name: view.params.subject } });
    const right = chosen(view, data);
    const left = view.query.get("against");
    if (!left || Number(left) === right.version) return data;
    const query = { name: view.params.subject, left, right: right.version };
    return { ...data, difference: await api.get("schemas/difference", { signal: view.signal, query }) };
  },
  draw: (view, data) => {
    const shown = chosen(view, data);
    return [
      numbers(data, shown),
      h("div", { class: "schema-columns" },
        versions(view, data, shown),
        data.difference
          ? card(`Version ${data.difference.left} → ${data.difference.right}`, differenceView(view, data.difference), { tools: differenceTools(view) })
          : card(`Version ${shown.version}`, text(shown), { tools: versionTools(view, data, shown) })),
    ];
  },
};

function chosen(view, data) {
  return data.versions.find((each) => String(each.version) === view.params.version) ?? data.versions[0];
}

function numbers(data, shown) {
  return tiles(
    tile("Kind", KINDS[data.kind] ?? data.kind, { detail: data.is_deleted ? "deleted softly" : undefined }),
    tile("Versions", count(data.versions.length), { detail: `newest is ${data.versions[0].version}` }),
    tile("Schema id", String(shown.schema_id), { detail: `of version ${shown.version}` }),
    tile("Compatibility", h("span", { class: "word" }, data.level), { detail: data.has_own_level ? "set on this subject" : "as for all subjects" }),
    tile("Mode", h("span", { class: "word" }, data.mode)));
}

function versions(view, data, shown) {
  return card("Versions", h("ul", { class: "versions" }, data.versions.map((each) => h("li", { key: each.version },
    h("a", {
      href: link("schemas", data.subject, each.version), "aria-current": each.version === shown.version ? "page" : undefined,
    }, `Version ${each.version}`, each.is_deleted && badge("deleted")),
    h("small", { class: "muted" }, each.timestamp > 0 ? moment(each.timestamp) : `id ${each.schema_id}`),
    each.version !== shown.version && h("button", {
      class: "link", onclick: () => { view.setQuery({ against: each.version }); view.reload(); },
      "aria-label": `Compare version ${each.version} with ${shown.version}`,
    }, "Compare")))));
}

function text(shown) {
  return [
    shown.kind === "PROTOBUF" ? h("pre", { class: "code" }, shown.text) : jsonView(shown.text),
    shown.references.length > 0 && h("p", { class: "muted references" }, "Refers to ", shown.references.map((each) =>
      h("a", { key: each.name, href: link("schemas", each.subject, each.version) }, `${each.name} (${each.subject} ${each.version}) `))),
    shown.referred_by.length > 0 && h("p", { class: "muted references" }, `Referred to by ${plural(shown.referred_by.length, "schema")}: `,
      shown.referred_by.map((each) => h("a", { key: each.subject, href: link("schemas", each.subject, each.version) }, `${each.subject} ${each.version} `))),
  ];
}

function versionTools(view, data, shown) {
  return h("button", { class: "link bad", onclick: () => deleteVersion(view, data, shown) }, "Delete this version");
}

function differenceTools(view) {
  const isSplit = view.query.get("inline") === null;
  return h("span", { class: "spread" },
    h("button", { class: "link", onclick: () => { view.setQuery({ inline: isSplit ? "1" : "" }); view.redraw(); } },
      isSplit ? "Below each other" : "Side by side"),
    h("button", { class: "link", onclick: () => { view.setQuery({ against: "", inline: "" }); view.reload(); } }, "Close"));
}

function pageOf(view) {
  return view.params.subject ? one : all;
}

export const schemas = {
  title: (view) => pageOf(view).title(view),
  trail: (view) => pageOf(view).trail?.(view) ?? [],
  actions: (view, data) => pageOf(view).actions(view, data),
  load: (view) => pageOf(view).load(view),
  draw: (view, data) => pageOf(view).draw(view, data),
  refresh_ms: 10_000,
};

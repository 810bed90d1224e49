/** What is done to schemas, through the registry's own API: each asks first. */

import { api, path } from "../parts/api.js";
import { confirm, form, show } from "../parts/dialog.js";
import { h } from "../parts/dom.js";
import { toast } from "../parts/toast.js";

const KINDS = [["AVRO", "Avro"], ["JSON", "JSON Schema"], ["PROTOBUF", "Protobuf"]];
const LEVEL_WORDS = {
  NONE: "nothing is compared", BACKWARD: "new reads old", BACKWARD_TRANSITIVE: "new reads all old ones",
  FORWARD: "old reads new", FORWARD_TRANSITIVE: "all old ones read new", FULL: "both",
  FULL_TRANSITIVE: "both, with all old ones",
};

function registry(...parts) {
  return `/${path(...parts)}`;
}

function fields(data) {
  const newest = data?.versions?.[0];
  return [
    ...(data ? [] : [{ name: "subject", label: "Subject", required: true, hint: "Values of a topic: its name and -value.", spellcheck: "false" }]),
    { name: "schemaType", label: "Kind", options: KINDS, value: newest?.kind ?? "AVRO" },
    { name: "schema", label: "Schema", type: "textarea", rows: 16, value: newest?.text ?? "", required: true },
  ];
}

function body(data, { schema, schemaType }) {
  return { schema, schemaType, references: data?.versions?.[0]?.references ?? [] };
}

/** Register a version: it is checked first, and what is in the way is told with nothing lost that was typed. */
export async function registerSchema(view, data) {
  const done = await form({
    title: data ? `New version of ${data.subject}` : "Register a schema", action: "Register", wide: true,
    body: data && `It is compared as ${data.level} asks before it is registered. A registered version is never changed.`,
    fields: fields(data),
    submit: async (values) => {
      const subject = data?.subject ?? values.subject.trim();
      const check = await compared(subject, body(data, values));
      if (!check.is_compatible) throw new Error(check.messages.join("\n"));
      const answer = await api.post(registry("subjects", subject, "versions"), body(data, values));
      return { subject, ...answer };
    },
  });
  if (!done) return;
  toast(`${done.subject} has the schema with id ${done.id}.`);
  view.reload();
}

/** Whether a schema could be registered, with the reason if not. */
export async function checkSchema(view, data) {
  const result = await form({
    title: `Check a schema for ${data.subject}`, action: "Check", wide: true, fields: fields(data),
    body: `Nothing is changed. Level: ${data.level} (${LEVEL_WORDS[data.level] ?? ""}).`,
    submit: (values) => compared(data.subject, body(data, values)),
  });
  if (!result) return;
  show({
    title: result.is_compatible ? "Compatible" : "Not compatible",
    body: result.is_compatible
      ? h("p", { class: "good" }, "It could be registered as the next version.")
      : h("ul", { class: "reasons" }, result.messages.map((message) => h("li", { key: message }, message))),
  });
}

async function compared(subject, schema) {
  return api.post(registry("compatibility", "subjects", subject, "versions"), schema, { query: { verbose: "true" } });
}

/** Change how strictly versions are compared: of a subject, or of all that have no level of their own. */
export async function changeLevel(view, { subject, level, levels, has_own_level: isOwn }) {
  const options = levels.map((each) => [each, `${each} – ${LEVEL_WORDS[each] ?? ""}`]);
  if (subject) options.unshift(["", "as for all subjects"]);
  const where = subject ? registry("config", subject) : "/config";
  const done = await form({
    title: subject ? `Compatibility of ${subject}` : "Compatibility of all subjects", action: "Change",
    body: subject ? "It holds for versions that are registered from now on." : "It holds for every subject that has no level of its own.",
    fields: [{ name: "level", label: "Level", options, value: subject && !isOwn ? "" : level }],
    submit: async (values) => {
      if (values.level === "") return isOwn ? await api.remove(where) ?? true : true;
      return api.put(where, { compatibility: values.level });
    },
  });
  if (!done) return;
  toast("The level is changed.");
  view.reload();
}

/** Delete a subject: softly at first, for good when it is deleted softly already. */
export async function deleteSubject(view, data) {
  const done = await confirm({
    title: data.is_deleted ? `Delete ${data.subject} for good?` : `Delete ${data.subject}?`, typed: data.subject, action: "Delete",
    body: data.is_deleted
      ? "All its versions are lost. Messages that were written with them can be read by nobody any more."
      : "Its versions are no longer offered. Messages that were written with them can still be read, by the ids in them.",
    submit: () => api.remove(registry("subjects", data.subject), undefined, { query: { permanent: data.is_deleted ? "true" : "" } }),
  });
  if (!done) return;
  toast(`${data.subject} is deleted.`);
  view.reload();
}

/** Delete one version, in the same two steps. */
export async function deleteVersion(view, data, shown) {
  const done = await confirm({
    title: `Delete version ${shown.version} of ${data.subject}?`, action: "Delete", typed: String(shown.version),
    body: shown.is_deleted ? "It is lost for good." : "It is no longer offered; who knows its id can still read with it.",
    submit: () => api.remove(registry("subjects", data.subject, "versions", shown.version), undefined,
      { query: { permanent: shown.is_deleted ? "true" : "" } }),
  });
  if (!done) return;
  toast(`Version ${shown.version} is deleted.`);
  view.reload();
}

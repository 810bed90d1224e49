/** Writing messages: new ones, and old ones once more, as they are or changed. And taking them away as a file. */

import { address, api, path } from "../parts/api.js";
import { form } from "../parts/dialog.js";
import { h } from "../parts/dom.js";
import { prettyJson } from "../parts/json_text.js";
import { toast } from "../parts/toast.js";

const NONE = "none";
const KEPT = "kept";
const SUBJECT = "subject:";

/** Ask for a message and send it; with `message` it is that one again. */
export async function sendMessage(view, { topic, message }) {
  const subjects = await api.get("/subjects", { signal: view.signal }).catch(() => []);
  const stored = await form({
    title: message ? "Send again" : "Produce a message", action: "Send", wide: true,
    body: message && `A copy of offset ${message.offset} of partition ${message.partition}; the message itself stays as it is.`,
    fields: [
      { name: "topic", label: "Topic", value: topic, required: true, spellcheck: "false" },
      { name: "keyForm", label: "Key is", options: forms(message?.key, subjects, "no key"), value: formOf(message?.key) },
      { name: "key", label: "Key", value: textOf(message?.key), spellcheck: "false" },
      { name: "valueForm", label: "Value is", options: forms(message?.value, subjects, "null (a tombstone)"), value: formOf(message?.value) },
      { name: "value", label: "Value", type: "textarea", rows: 7, value: textOf(message?.value) },
      { name: "headers", label: "Headers", type: "textarea", rows: 2, value: headersOf(message), hint: "One per line: name: value" },
      { name: "partition", label: "Partition", type: "number", min: 0, hint: "Empty: by the key, as producers choose." },
    ],
    submit: (values) => send(values, message),
  });
  if (!stored) return;
  toast(`Stored in ${stored.topic}, partition ${stored.partition}, offset ${stored.offset}.`);
  if (stored.topic === view.params.topic && view.params.offset === undefined && !view.query.get("live")) view.reload();
}

function forms(payload, subjects, nothing) {
  return [
    ...(canKeep(payload) ? [[KEPT, "as it is, byte by byte"]] : []),
    ["string", "text or JSON"], ["binary", "base64"], [NONE, nothing],
    ...subjects.map((subject) => [`${SUBJECT}${subject}`, `by the schema ${subject}`]),
  ];
}

function canKeep(payload) {
  return payload?.base64 !== undefined && !payload.are_bytes_cut;
}

function formOf(payload) {
  if (!payload) return "string";
  if (payload.kind === "null") return NONE;
  return canKeep(payload) ? KEPT : "string";
}

function textOf(payload) {
  if (!payload || payload.text === undefined) return payload?.base64 ?? "";
  return payload.kind === "text" || payload.is_cut ? payload.text : prettyJson(payload.text);
}

function headersOf(message) {
  return (message?.headers ?? []).map(({ name, value }) => `${name}: ${value.text ?? ""}`).join("\n");
}

async function send(values, message) {
  const topic = values.topic.trim();
  const [key, value] = await Promise.all([
    payloadOf(topic, values.key, values.keyForm, message?.key, "key"),
    payloadOf(topic, values.value, values.valueForm, message?.value, "value"),
  ]);
  const record = {
    key: key.data, key_format: key.format, value: value.data, value_format: value.format,
    headers: parsedHeaders(values.headers, message),
  };
  if (values.partition !== null) record.partition = values.partition;
  const { offsets: [stored] } = await api.post(`/${path("topics", topic, "records")}`, { records: [record] });
  return { topic, ...stored };
}

async function payloadOf(topic, text, form, original, what) {
  if (form === NONE) return { data: null, format: "string" };
  if (form === KEPT) return { data: original.base64, format: "binary" };
  if (form === "string" && what === "key" && text === "") return { data: null, format: "string" };
  if (!form.startsWith(SUBJECT)) return { data: text, format: form };
  const subject = form.slice(SUBJECT.length);
  const encoded = await api.post(path("messages", topic, "encode"), { subject, document: parsed(text, what) });
  return { data: encoded.base64, format: "binary" };
}

function parsed(text, what) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`The ${what} is no JSON, which a schema needs: ${error.message}`);
  }
}

/** A header that nobody changed keeps its bytes. */
function parsedHeaders(text, message) {
  return text.split("\n").map((line) => line.trim()).filter(Boolean).map((line) => {
    const place = line.indexOf(":");
    if (place < 1) throw new Error(`The header ${JSON.stringify(line)} has no value; write name: value.`);
    const [name, value] = [line.slice(0, place).trim(), line.slice(place + 1).trim()];
    const same = message?.headers.find((each) => each.name === name && (each.value.text ?? "") === value);
    if (same?.value.kind === "null") return { name, value: null };
    return same?.value.base64 && !same.value.are_bytes_cut
      ? { name, value: same.value.base64, format: "binary" }
      : { name, value, format: "string" };
  });
}

/** Ask for a format, and let the browser save the file. */
export function exportMessages(topic, filters) {
  const words = Object.entries(filters).filter(([, value]) => value).map(([name, value]) => `${name} ${value}`);
  return form({
    title: `Export ${topic}`, action: "Export",
    body: h("p", {}, words.length ? `Messages with ${words.join(", ")}.` : "All messages, oldest first."),
    fields: [
      {
        name: "format", label: "Format", value: "jsonl",
        options: [["jsonl", "JSON lines, nothing is lost"], ["csv", "CSV, for spreadsheets"]],
      },
      { name: "limit", label: "At most", type: "number", min: 1, max: 1_000_000, value: "100000", required: true },
    ],
    submit: async ({ format, limit }) => {
      location.assign(address(path("messages", topic, "export"), { ...filters, format, limit }));
    },
  });
}


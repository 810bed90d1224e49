/** Keys and values as the gateway tells them: a line of them in a table, or the whole with its bytes. */

import { h } from "./dom.js";
import { bytes } from "./format.js";
import { jsonView } from "./json_text.js";

const WORDS = {
  json: "JSON", text: "text", binary: "bytes", null: "null", avro: "Avro", json_schema: "JSON Schema",
  protobuf: "Protobuf",
};
const DUMPED_MAX = 16_384;
const PER_LINE = 16;

/** One line of a payload. */
export function preview(payload) {
  if (payload.kind === "null") return h("span", { class: "muted" }, "null");
  if (payload.bytes === 0) return h("span", { class: "muted" }, "empty");
  if (payload.text === undefined) {
    return h("span", { class: "hex", title: payload.problem },
      payload.problem && h("span", { class: "warn", "aria-label": "Not decoded" }, "⚠ "),
      payload.number ?? hexLine(payload.base64));
  }
  return h("span", {}, payload.text.replace(/\s+/g, " "), payload.is_cut && "…");
}

/** What a payload is: `Avro · schema 7 · 120 B`. */
export function describe(payload) {
  if (payload.kind === "null") return "null";
  const parts = [WORDS[payload.kind] ?? payload.kind];
  if (payload.schema_id !== undefined) parts.push(`schema ${payload.schema_id}`);
  return [...parts, bytes(payload.bytes)].join(" · ");
}

/** The whole payload; `form` is "read" or "bytes". */
export function whole(payload, form = "read") {
  if (payload.kind === "null") return h("p", { class: "muted" }, "There is none.");
  const problem = payload.problem && h("p", { class: "problem", key: "problem" }, payload.problem);
  const isRead = form === "read" && payload.text !== undefined;
  const body = isRead ? readable(payload) : h("pre", { class: "code hex", key: "hex" }, dump(payload.base64 ?? ""));
  const isCut = isRead ? payload.is_cut : payload.are_bytes_cut || (payload.base64?.length ?? 0) * 0.75 > DUMPED_MAX;
  return [
    problem, body,
    payload.number && h("p", { class: "muted", key: "number" }, `As a number: ${payload.number}`),
    isCut && h("p", { class: "muted", key: "cut" }, "Only the beginning is shown."),
  ];
}

function readable(payload) {
  const isDocument = payload.kind !== "text" && !payload.is_cut;
  return isDocument ? jsonView(payload.text) : h("pre", { class: "code" }, payload.text);
}

/** The bytes of base64. */
export function bytesOf(text) {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

function hexLine(text) {
  return [...bytesOf(text ?? "")].slice(0, 24).map(hex).join(" ");
}

/** Bytes as programmers read them: places, sixteen numbers, and the letters among them. */
export function dump(text) {
  const all = bytesOf(text).subarray(0, DUMPED_MAX);
  const lines = [];
  for (let start = 0; start < all.length; start += PER_LINE) {
    const some = [...all.subarray(start, start + PER_LINE)];
    const letters = some.map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "·")).join("");
    lines.push(`${start.toString(16).padStart(6, "0")}  ${some.map(hex).join(" ").padEnd(PER_LINE * 3)} ${letters}`);
  }
  return lines.join("\n");
}

function hex(byte) {
  return byte.toString(16).padStart(2, "0");
}

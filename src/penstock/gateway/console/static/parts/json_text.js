/**
 * JSON laid out for reading, from its text: only white space is changed. Numbers keep all their digits, names
 * their order and spelling, which parsing and printing would not promise.
 */

import { h } from "./dom.js";

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g;
const STEP = "  ";
const COLOURED_MAX = 120_000;

/** The lines of a document as elements in a <pre>; a very long one without colours. */
export function jsonView(text) {
  const pieces = laidOut(text);
  const shown = text.length > COLOURED_MAX ? pieces.map(([, piece]) => piece).join("") : coloured(pieces);
  return h("pre", { class: "code json" }, shown);
}

/** The document over several lines, as plain text. */
export function prettyJson(text) {
  return laidOut(text).map(([, piece]) => piece).join("");
}

/** Pieces of text with what they are: "name", "string", "literal", or "" for what is between. */
export function laidOut(text) {
  const tokens = text.match(TOKEN) ?? [];
  const pieces = [];
  let depth = 0;
  const line = () => pieces.push(["", `\n${STEP.repeat(depth)}`]);
  tokens.forEach((token, index) => {
    const before = tokens[index - 1];
    if (token === "}" || token === "]") {
      depth -= 1;
      if (before !== "{" && before !== "[") line();
    } else if (before === "{" || before === "[") {
      line();
    }
    pieces.push([kindOf(token, tokens[index + 1]), token === ":" ? ": " : token]);
    if (token === "{" || token === "[") depth += 1;
    else if (token === ",") line();
  });
  return pieces;
}

function kindOf(token, next) {
  if (token.startsWith('"')) return next === ":" ? "name" : "string";
  return /^[{}[\],:]$/.test(token) ? "" : "literal";
}

/** Neighbours of one kind become one element: a page has fewer of them then. */
function coloured(pieces) {
  const joined = [];
  for (const [kind, text] of pieces) {
    if (joined.length && joined.at(-1)[0] === kind) joined.at(-1)[1] += text;
    else joined.push([kind, text]);
  }
  return joined.map(([kind, text]) => (kind ? h("span", { class: `json-${kind}` }, text) : text));
}

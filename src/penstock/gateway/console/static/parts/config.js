/** Settings in a table: what holds, who said so, and, where it may be changed, changing it. */

import { badge } from "./card.js";
import { form } from "./dialog.js";
import { h } from "./dom.js";
import { bytes, duration } from "./format.js";
import { table } from "./table.js";
import { toast } from "./toast.js";

/** `save(name, value)` changes one setting, null takes it back to its default; without it nothing can be changed. */
export function configTable(view, rows, { id = "", save } = {}) {
  const onlyChanged = view.query.get(`${id}changed`) === "yes";
  const shown = onlyChanged ? rows.filter((row) => row.is_overridden) : rows;
  return table(view, {
    id, rows: shown, noun: "setting", filter: true, key: (row) => row.name,
    empty: h("p", { class: "empty" }, "Nothing is overridden: all is as the brokers have it."),
    tools: h("label", { class: "choice" },
      h("input", {
        type: "checkbox", checked: onlyChanged,
        onchange: (event) => { view.setQuery({ [`${id}changed`]: event.target.checked ? "yes" : "" }); view.redraw(); },
      }),
      `Overridden only (${rows.filter((row) => row.is_overridden).length})`),
    columns: [
      { name: "name", title: "Setting", value: (row) => row.name, show: (row) => [
        h("span", { title: row.documentation || undefined }, row.name), row.is_overridden && badge("overridden"),
      ] },
      { name: "value", title: "Value", class: "mono", value: (row) => row.value, show: valueOf },
      { name: "source", title: "Set by", class: "secondary", value: (row) => row.source },
      save && { name: "change", title: "", align: "right", show: (row) => !row.is_read_only && !row.is_sensitive && [
        h("button", { class: "link", "aria-label": `Change ${row.name}`, onclick: () => change(view, row, save) }, "Change"),
      ] },
    ].filter(Boolean),
  });
}

function valueOf(row) {
  if (row.is_sensitive) return h("span", { class: "untold" }, "secret");
  if (row.value === null || row.value === "") return h("span", { class: "untold" }, "empty");
  const words = [inWords(row), row.otherwise && `otherwise ${otherwise(row)}`];
  return [row.value, words.filter(Boolean).map((each) => h("span", { class: "aside", key: each }, each))];
}

/** What would hold; settings of brokers often say the same in another unit, so their name is told. */
function otherwise({ name, otherwise: weaker }) {
  if (!weaker) return "";
  const value = weaker.value === "" ? "empty" : weaker.value;
  return weaker.name === name ? value : `${weaker.name}=${value}`;
}

/** `1 d` beside 86400000; numbers that stand for "never" and "any" are left alone. */
function inWords({ name, value }) {
  const amount = Number(value);
  if (!Number.isSafeInteger(amount) || amount < 1000) return null;
  if (name.endsWith(".ms")) return duration(amount);
  return name.endsWith(".bytes") ? bytes(amount) : null;
}

async function change(view, row, save) {
  const done = await form({
    title: row.name,
    body: row.documentation,
    fields: [
      { name: "value", label: "Value", value: row.value ?? "" },
      row.is_overridden && { name: "reset", label: "Back to what holds otherwise", type: "checkbox", hint: otherwise(row) },
    ].filter(Boolean),
    submit: async ({ value, reset }) => { await save(row.name, reset ? null : value); return true; },
  });
  if (!done) return;
  toast(`${row.name} is changed.`);
  await view.reload();
}

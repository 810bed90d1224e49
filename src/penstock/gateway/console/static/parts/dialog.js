/**
 * Dialogs: asking before something dangerous is done, and small forms.
 *
 * Both are the browser's own <dialog>: Escape closes it, the focus stays inside and goes back afterwards. What
 * the gateway refuses is shown inside, with all that was typed still there.
 */

import { build, h, render } from "./dom.js";

/**
 * Show a form and do what it is for; resolves to the result of `submit`, or undefined when it was left.
 *
 * `fields` are `{name, label, type, value, hint, options, required, when, ...}`; `submit` gets the values by name,
 * and `when(values)` says whether a field is shown, which may depend on those before it. `body` is shown above the fields, `typed` is a word that must be typed first.
 */
export function form({ title, body, fields = [], action = "Save", danger = false, typed, submit, wide }) {
  return new Promise((resolve) => {
    const state = { problem: "", isBusy: false, word: "", values: firstValues(fields) };
    const dialog = build(h("dialog", { class: wide ? "dialog wide" : "dialog", "aria-label": title }));
    const finish = (result) => {
      dialog.close();
      dialog.remove();
      resolve(result);
    };
    const send = async (event) => {
      event.preventDefault();
      if (state.isBusy || (typed && state.word !== typed)) return;
      Object.assign(state, { isBusy: true, problem: "" });
      draw();
      try {
        finish(await submit(valuesOf(event.target, fields)));
      } catch (error) {
        Object.assign(state, { isBusy: false, problem: error.message });
        draw();
      }
    };
    const note = (event) => {
      state.values = { ...state.values, ...valuesOf(event.currentTarget, fields) };
      draw();
    };
    const draw = () => render(dialog, content());
    const content = () =>
      h("form", { method: "dialog", onsubmit: send, oninput: note },
        h("h2", {}, title),
        body && h("div", { class: "dialog-body" }, body),
        fields.filter((field) => !field.when || field.when(state.values)).map(fieldOf),
        typed && wordField(typed, (word) => { state.word = word; draw(); }),
        state.problem && h("p", { class: "problem", role: "alert", key: "problem" }, state.problem),
        h("div", { class: "dialog-actions", key: "actions" },
          h("button", { type: "button", onclick: () => finish(undefined) }, "Cancel"),
          h("button", {
            type: "submit",
            class: danger ? "danger" : "primary",
            disabled: state.isBusy || Boolean(typed && state.word !== typed),
          }, action)));
    dialog.oncancel = (event) => { event.preventDefault(); finish(undefined); };
    document.body.append(dialog);
    draw();
    dialog.showModal();
    dialog.querySelector("input, select, textarea")?.focus();
  });
}

/** Ask first: resolves to true when it was done, which `submit` does. With `typed`, that word must be typed. */
export async function confirm({ title, body, action = "Go on", typed, danger = true, submit, wide }) {
  const done = await form({
    title, body, action, typed, danger, wide,
    submit: async () => { await submit?.(); return true; },
  });
  return done === true;
}

/** Show something with a single button. */
export function show({ title, body, wide = true }) {
  const dialog = build(
    h("dialog", { class: wide ? "dialog wide" : "dialog", "aria-label": title },
      h("form", { method: "dialog" },
        h("h2", {}, title),
        h("div", { class: "dialog-body" }, body),
        h("div", { class: "dialog-actions" }, h("button", { class: "primary" }, "Close")))),
  );
  dialog.onclose = () => dialog.remove();
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

function wordField(word, onType) {
  return h("label", { class: "field", key: "typed" },
    h("span", {}, "Type ", h("code", {}, word), " to go on"),
    h("input", {
      type: "text", autocomplete: "off", spellcheck: "false", name: "typed-word",
      oninput: (event) => onType(event.target.value),
    }));
}

function fieldOf(field) {
  const { name, label, hint, type = "text", options, value, when, ...rest } = field;
  const id = `field-${name}`;
  const shared = { id, name, ...rest, "aria-describedby": hint ? `${id}-hint` : undefined };
  const boxed = type === "checkbox";
  return h("div", { class: boxed ? "field check" : "field", key: name },
    h("label", { for: id }, label),
    options ? select(shared, options, value) : input(shared, type, value),
    hint && h("small", { id: `${id}-hint` }, hint));
}

function select(shared, options, value) {
  return h("select", shared, options.map((option) => {
    const [key, text] = Array.isArray(option) ? option : [option, option];
    return h("option", { value: key, preset: key === value }, text);
  }));
}

/** What was given to begin with is set once; afterwards it belongs to whoever types. */
function input(shared, type, value) {
  if (type === "textarea") return h("textarea", { rows: 5, spellcheck: "false", ...shared, initial: value });
  if (type === "checkbox") return h("input", { type, ...shared, preset: Boolean(value) });
  return h("input", { type, autocomplete: "off", ...shared, initial: value });
}

function firstValues(fields) {
  return Object.fromEntries(fields.map(({ name, value, options }) => {
    const first = options?.[0];
    return [name, value ?? (Array.isArray(first) ? first[0] : first) ?? null];
  }));
}

/** What is not shown has no value. */
function valuesOf(element, fields) {
  const values = {};
  for (const { name, type } of fields) {
    const control = element.elements[name];
    if (!control) values[name] = null;
    else if (type === "checkbox") values[name] = control.checked;
    else if (type === "number") values[name] = control.value === "" ? null : Number(control.value);
    else values[name] = control.value;
  }
  return values;
}

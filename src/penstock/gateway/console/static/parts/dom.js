/**
 * Trees of elements, made as plain values and laid over what stands on the page.
 *
 * A page is drawn anew from its data each time; `render` changes only what differs, so that focus, scroll
 * and selection stay where they are. Text is always text: there is no way to pass HTML through here.
 */

const SVG = "http://www.w3.org/2000/svg";
const PROPERTIES = new Set(["value", "checked", "disabled", "selected", "open", "indeterminate"]);
const SAFE_LINK = /^(?:\/(?!\/)|\?|#|https?:|blob:)/;

const drawn = new WeakMap();

/**
 * An element: a tag, properties and children.
 *
 * `key` tells siblings apart, `on...` are functions, `initial` and `preset` are what a field or box holds until
 * somebody changes it, `value` and `checked` what it holds in any case.
 */
export function h(tag, properties, ...children) {
  const { key, ...rest } = properties ?? {};
  return { tag, key, properties: rest, children: children.flat(Infinity).filter(isShown) };
}

/** Make the children of `target` look like `tree`: one element, text, or a list of them. */
export function render(target, tree) {
  const wanted = [tree].flat(Infinity).filter(isShown);
  patchChildren(target, wanted, target.namespaceURI === SVG ? SVG : null);
}

/** The element of a tree, outside of any page. */
export function build(tree) {
  return create(tree, null);
}

function isShown(child) {
  return child !== null && child !== undefined && child !== false && child !== true;
}

function patchChildren(parent, wanted, namespace) {
  const before = [...parent.childNodes];
  const keyed = new Map();
  const free = [];
  for (const node of before) {
    const key = drawn.get(node)?.key;
    if (key === undefined) free.push(node);
    else keyed.set(key, node);
  }
  wanted.forEach((tree, position) => {
    const candidate = tree.key === undefined ? free.shift() : keyed.get(tree.key);
    const node = candidate && isAlike(candidate, tree) ? patch(candidate, tree) : create(tree, namespace);
    const here = parent.childNodes[position] ?? null;
    if (node !== here) parent.insertBefore(node, here);
  });
  while (parent.childNodes.length > wanted.length) parent.lastChild.remove();
}

function isAlike(node, tree) {
  if (typeof tree !== "object") return node.nodeType === Node.TEXT_NODE;
  return drawn.get(node)?.tag === tree.tag;
}

function create(tree, namespace) {
  if (typeof tree !== "object") return document.createTextNode(String(tree));
  const space = tree.tag === "svg" ? SVG : namespace;
  const node = space ? document.createElementNS(space, tree.tag) : document.createElement(tree.tag);
  drawn.set(node, { tag: tree.tag, key: tree.key, properties: {} });
  patchChildren(node, tree.children, tree.tag === "foreignObject" ? null : space);
  patchProperties(node, tree);
  return node;
}

function patch(node, tree) {
  if (typeof tree !== "object") {
    if (node.nodeValue !== String(tree)) node.nodeValue = String(tree);
    return node;
  }
  // Elements of our own draw what is in them by themselves.
  if (!tree.tag.includes("-")) {
    patchChildren(node, tree.children, node.namespaceURI === SVG ? SVG : null);
  }
  patchProperties(node, tree);
  return node;
}

function patchProperties(node, tree) {
  const state = drawn.get(node);
  for (const name of Object.keys(state.properties)) {
    if (!(name in tree.properties)) setProperty(node, name, undefined);
  }
  for (const [name, value] of Object.entries(tree.properties)) {
    if (state.properties[name] !== value || PROPERTIES.has(name)) setProperty(node, name, value);
  }
  state.properties = tree.properties;
}

function setProperty(node, name, value) {
  if (name.startsWith("on")) node[name] = value ?? null;
  else if (name === "data" && node.tagName.includes("-")) node.data = value;
  else if (name === "initial") node.defaultValue = value ?? "";
  else if (name === "preset") node[node.tagName === "OPTION" ? "defaultSelected" : "defaultChecked"] = value;
  else if (name === "style") setStyle(node, value ?? {});
  else if (PROPERTIES.has(name) && name in node) setLive(node, name, value);
  else if (value === undefined || value === null || value === false) node.removeAttribute(name);
  else if (name === "href" && !SAFE_LINK.test(value)) node.removeAttribute(name);
  else node.setAttribute(name, value === true ? "" : String(value));
}

/** What a person is typing is not overwritten by a refresh that has the same in mind. */
function setLive(node, name, value) {
  const wanted = name === "value" ? String(value ?? "") : Boolean(value);
  if (node[name] !== wanted) node[name] = wanted;
}

/** Through the object model, which a content security policy without inline styles allows. */
function setStyle(node, values) {
  for (const name of Object.keys(drawn.get(node)?.properties.style ?? {})) {
    if (!(name in values)) node.style.removeProperty(name);
  }
  for (const [name, value] of Object.entries(values)) node.style.setProperty(name, String(value));
}

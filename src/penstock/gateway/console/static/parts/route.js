/** Addresses: which page a path belongs to, and links between pages. Every page lies below /console. */

export const ROOT = "/console";

/** The address of a page: `link("topics", name)`, with `{query}` as the last argument if there is any. */
export function link(...parts) {
  const query = typeof parts.at(-1) === "object" ? parts.pop() : {};
  const search = new URLSearchParams(
    Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== ""),
  ).toString();
  const path = parts.map((part) => encodeURIComponent(part)).join("/");
  return `${ROOT}/${path}${search ? `?${search}` : ""}`;
}

/** The first of `pages` whose pattern fits, with what stands in its places: `/topics/:topic`. */
export function match(pages, pathname) {
  const given = partsOf(pathname.startsWith(ROOT) ? pathname.slice(ROOT.length) : pathname);
  for (const page of pages) {
    const params = fitted(partsOf(page.path), given);
    if (params) return { page, params };
  }
  return null;
}

function partsOf(path) {
  return path.split("/").filter(Boolean);
}

/** A place that ends in a question mark may be left out. */
function fitted(pattern, given) {
  if (given.length > pattern.length) return null;
  const params = {};
  for (const [index, part] of pattern.entries()) {
    const isOptional = part.endsWith("?");
    if (given[index] === undefined) {
      if (!isOptional) return null;
    } else if (part.startsWith(":")) {
      params[part.slice(1).replace(/\?$/, "")] = decoded(given[index]);
    } else if (part !== given[index]) {
      return null;
    }
  }
  return params;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // A percent sign that encodes nothing is part of a name that somebody typed.
  }
}

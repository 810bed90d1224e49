/** Asking the gateway: JSON in, JSON out, and errors that are sentences. */

const ROOT = "/console/api/";

/** What the gateway refused, or that it could not be reached (`status` 0). */
export class ApiError extends Error {
  constructor(status, message, body = {}) {
    super(message);
    this.status = status;
    this.body = body;
  }
}

/** Percent-encode the parts of a path: `path("topics", name)`. */
export function path(...parts) {
  return parts.map((part) => encodeURIComponent(part)).join("/");
}

export const api = {
  get: (where, options = {}) => ask("GET", where, undefined, options),
  post: (where, body = {}, options = {}) => ask("POST", where, body, options),
  put: (where, body = {}, options = {}) => ask("PUT", where, body, options),
  patch: (where, body = {}, options = {}) => ask("PATCH", where, body, options),
  remove: (where, body = {}, options = {}) => ask("DELETE", where, body, options),
};

/** `where` lies below /console/api, or is a whole path such as `/subjects`. */
export function address(where, query = {}) {
  const url = new URL(where.startsWith("/") ? where : ROOT + where, location.origin);
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") url.searchParams.set(name, value);
  }
  return url;
}

async function ask(method, where, body, { signal, query } = {}) {
  const request = { method, signal, headers: { Accept: "application/json" }, credentials: "same-origin" };
  if (body !== undefined) {
    request.headers["Content-Type"] = "application/json";
    request.body = JSON.stringify(body);
  }
  const answer = await fetch(address(where, query), request).catch((error) => {
    if (error.name === "AbortError") throw error;
    throw new ApiError(0, "The gateway does not answer. Is it still running?");
  });
  // The same address, asked for as a page, is answered with the way to log in.
  if (answer.status === 401) location.reload();
  const told = answer.status === 204 ? null : await answer.json().catch(() => null);
  if (!answer.ok) {
    throw new ApiError(answer.status, told?.message ?? `The gateway answered ${answer.status}.`, told ?? {});
  }
  return told;
}

/**
 * Events that a gateway sends on and on, read with fetch: an error has words, which an EventSource would not tell.
 */

import { ApiError, address } from "./api.js";

/**
 * Read events until the stream ends; `onEvent(name, data)` is called for each.
 *
 * Rejects with an ApiError if it is refused, breaks, or tells a problem; an aborted `signal` just ends it.
 */
export async function readEvents(where, { query, signal, onEvent }) {
  try {
    const answer = await fetch(address(where, query), { signal, credentials: "same-origin" });
    if (!answer.ok) throw await refusal(answer);
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const pieces = (rest + value).split("\n\n");
      rest = pieces.pop();
      for (const piece of pieces) tell(piece, onEvent);
    }
  } catch (error) {
    if (signal.aborted) return;
    throw error instanceof ApiError ? error : new ApiError(0, "The connection to the gateway broke.");
  }
}

function tell(piece, onEvent) {
  const lines = piece.split("\n");
  const name = lines.find((line) => line.startsWith("event: "))?.slice(7);
  const data = lines.find((line) => line.startsWith("data: "))?.slice(6);
  if (!name || data === undefined) return; // A heartbeat.
  const told = JSON.parse(data);
  if (name === "problem") throw new ApiError(told.error_code ?? 0, told.message, told);
  onEvent(name, told);
}

async function refusal(answer) {
  const told = await answer.json().catch(() => null);
  return new ApiError(answer.status, told?.message ?? `The gateway answered ${answer.status}.`, told ?? {});
}

// COMPAT: which request a v0 response without `correlation_id` answers. Messages printed for v0 leave the field out; one
// bounded look into the log finds the request, so that nothing is kept per connection. [AC-3-1] [AC-11-2]
import { type Envelope, isObject, type JsonObject, McpxError, parseKind } from "@mcpx/protocol";
import type { Room } from "../room/room.ts";
import { readPage } from "../topic-log/read-page.ts";
import type { Entry } from "../topic-log/topic-log.ts";

interface LookBack {
  /** Envelopes that are looked at, the newest first. */
  correlationWindow: number;
  queueBytesMax: number;
}

/** The envelope id of the one open request that fits, or `response_needs_correlation`. */
export async function findOpenRequest(
  { log, topic }: Room,
  response: Envelope,
  sender: string,
  { correlationWindow: limit, queueBytesMax: bytesMax }: LookBack,
): Promise<string> {
  const { entries } = await readPage(log, topic, { limit, bytesMax });
  const answered = new Set<string>();
  const open: string[] = [];
  for (const entry of entries) {
    const { kind, to, correlation_id: about, payload } = partsOf(entry);
    if (kind !== "mcp") continue;
    const isAnswer = entry.from === sender && typeof about === "string" && !Object.hasOwn(payload, "method");
    // The same response, sent once more: it answers what it answered before. [X0-4-3]
    if (isAnswer && entry.id === response.id) return about;
    if (isAnswer) answered.add(about);
    const isRequest = Object.hasOwn(payload, "method") && payload.id === response.payload.id;
    const isBetweenThem = to.length === 1 && to[0] === sender && response.to.includes(entry.from);
    if (isRequest && isBetweenThem && !answered.has(entry.id)) open.push(entry.id);
  }
  const [only, ...others] = open;
  if (only !== undefined && others.length === 0) return only;
  const found = only === undefined ? "no open request" : `${open.length} open requests`;
  throw new McpxError(
    "response_needs_correlation",
    `correlation_id is missing, and ${found} with this payload.id from a participant in to came to ${sender}`,
  );
}

function partsOf({ text }: Entry): {
  kind: string | undefined;
  to: readonly unknown[];
  correlation_id: unknown;
  payload: JsonObject;
} {
  const { kind, to, correlation_id, payload } = JSON.parse(text);
  return {
    kind: parseKind(String(kind))?.kind,
    to: Array.isArray(to) ? to : [],
    correlation_id,
    payload: isObject(payload) ? payload : {},
  };
}

// Chat in the forms of both protocols: read both, write the one of the room's protocol. [X0-8.1-1]
import { isObject, type JsonObject, type Protocol, v0ChatMethod } from "@mcpx/protocol";
import type { RoomEnvelope } from "../core/room-envelope.ts";

export interface ChatMessage {
  id: string;
  from: string;
  text: string;
  format: "plain" | "markdown";
  /** Empty: to all. */
  to: readonly string[];
  at: string | undefined;
  seq: number | undefined;
}

/** The chat in an envelope; `undefined` where there is none. */
export function readChat(envelope: RoomEnvelope): ChatMessage | undefined {
  const body = isV0Chat(envelope) ? envelope.payload.params : envelope.payload;
  if (envelope.kind !== "chat" && !isV0Chat(envelope)) return undefined;
  if (!isObject(body) || typeof body.text !== "string") return undefined;
  const { id, from, to = [], at, seq } = envelope;
  return {
    id,
    from,
    text: body.text,
    format: body.format === "markdown" ? "markdown" : "plain",
    to,
    at,
    seq,
  };
}

/** COMPAT: v0 has no chat kind. Only there does the notification count as chat. */
function isV0Chat({ protocol, kind, payload }: RoomEnvelope): boolean {
  return (
    protocol === "mcp-x/v0" &&
    kind === "mcp" &&
    payload.method === v0ChatMethod &&
    !Object.hasOwn(payload, "id")
  );
}

/** Kind and payload for saying something. */
export function writeChat(
  protocol: Protocol,
  text: string,
  format: "plain" | "markdown" | undefined,
): { kind: string; payload: JsonObject } {
  const body = { text, ...(format === undefined ? {} : { format }) };
  if (protocol === "mcpx/v0.1") return { kind: "chat", payload: body };
  return { kind: "mcp", payload: { jsonrpc: "2.0", method: v0ChatMethod, params: body } };
}

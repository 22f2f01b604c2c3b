// The one log lookup by which an envelope's reference is checked. Not found means trimmed or never there. [PL-3-2]
import { isObject, type JsonObject, parseKind, scan } from "@mcpx/protocol";
import type { Room } from "./room.ts";

export interface Referred {
  from: string;
  to: readonly string[];
  kind: string | undefined;
  /** When the gateway received it. */
  at: number;
  seq: number;
  payload: JsonObject;
  /** A JSON-RPC request, which its addressee may answer. */
  isRequest: boolean;
}

export async function findReferred(room: Room, id: string): Promise<Referred | undefined> {
  const entry = await room.log.find(room.topic, id);
  if (entry === undefined) return undefined;
  const { value } = scan(entry.text, { depthMax: Number.POSITIVE_INFINITY });
  const kind = parseKind(value.kind as string)?.kind;
  const payload = isObject(value.payload) ? value.payload : {};
  return {
    from: entry.from,
    to: Array.isArray(value.to) ? (value.to as string[]) : [],
    kind,
    at: entry.at,
    seq: entry.seq,
    payload,
    isRequest: kind === "mcp" && Object.hasOwn(payload, "method") && Object.hasOwn(payload, "id"),
  };
}

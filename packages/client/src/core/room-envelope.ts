// An envelope as it comes out of a room: shape-checked, never trusted further than that.
import { isId, isObject, isProtocol, type JsonObject, type Protocol } from "@mcpx/protocol";

/** Who the gateway itself speaks as; nobody else may. */
export const gatewayId = "system:gateway";

export interface RoomEnvelope {
  protocol: Protocol;
  id: string;
  ts: string;
  from: string;
  to?: string[];
  kind: string;
  correlation_id?: string;
  payload: JsonObject;
  /** The gateway's number in the topic; absent on what only this connection was told. */
  seq?: number;
  /** The gateway's time of receipt, RFC 3339. */
  at?: string;
}

/** What came in a text frame: an envelope, or at least the number it would have had. */
export function readFrame(text: string): { envelope?: RoomEnvelope; seq?: number } {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return {};
  }
  if (isRoomEnvelope(value)) return { envelope: value };
  return isObject(value) && Number.isSafeInteger(value.seq) ? { seq: Number(value.seq) } : {};
}

/** Whether a value, such as one of the REST history, is an envelope of a room. */
export function isRoomEnvelope(value: unknown): value is RoomEnvelope {
  return (
    isObject(value) &&
    isProtocol(value.protocol) &&
    isId(value.id) &&
    isId(value.from) &&
    typeof value.kind === "string" &&
    isObject(value.payload) &&
    (value.ts === undefined || typeof value.ts === "string") &&
    (value.to === undefined || (Array.isArray(value.to) && value.to.every((id) => isId(id)))) &&
    (value.correlation_id === undefined || isId(value.correlation_id)) &&
    (value.seq === undefined || Number.isSafeInteger(value.seq)) &&
    (value.at === undefined || typeof value.at === "string")
  );
}

// Whether a payload can be said in a room: an envelope has a size and a depth. Pure.
import { numberOf } from "../json/exact-json.ts";
import type { JsonObject } from "../json/json-rpc.ts";

export interface RoomBounds {
  envelopeBytesMax: number;
  depthMax: number;
}

/** Left for what stands around a payload. */
const envelopeBytes = 4_096;

export function fitsRoom(payload: JsonObject, { envelopeBytesMax, depthMax }: RoomBounds): boolean {
  const bytes = new TextEncoder().encode(JSON.stringify(payload)).length;
  return bytes <= envelopeBytesMax - envelopeBytes && 1 + depthOf(payload) <= depthMax;
}

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null || numberOf(value) !== undefined) return 0;
  let deepest = 0;
  for (const inner of Object.values(value)) deepest = Math.max(deepest, depthOf(inner));
  return deepest + 1;
}

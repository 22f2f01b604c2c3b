// Envelope ids of what was said on a platform: the same message has the same id however often it is delivered, and only
// this gateway can make one, so nobody can hide an envelope from a channel by its id.
import { createHmac, timingSafeEqual } from "node:crypto";

export interface SaidPlace {
  bridge: string;
  channel: string;
  participant: string;
}

const shape = /^said-([0-9a-f]{16})-([0-9a-f]{32})$/;

export function saidId(secret: Uint8Array, place: SaidPlace, messageId: string): string {
  const message = mac(secret, ["message", place.bridge, messageId]).slice(0, 16);
  return `said-${message}-${mark(secret, place, message)}`;
}

/** Whether an envelope of this id and sender came out of this very channel. */
export function isSaidHere(secret: Uint8Array, place: SaidPlace, id: string): boolean {
  const [, message, given] = shape.exec(id) ?? [];
  if (message === undefined || given === undefined) return false;
  return timingSafeEqual(Buffer.from(given), Buffer.from(mark(secret, place, message)));
}

function mark(secret: Uint8Array, { bridge, channel, participant }: SaidPlace, message: string): string {
  return mac(secret, ["place", bridge, channel, participant, message]).slice(0, 32);
}

function mac(secret: Uint8Array, parts: readonly string[]): string {
  return createHmac("sha256", secret).update(JSON.stringify(parts)).digest("hex");
}

// MCP's handshake with a peer: once per peer and connection, shared by all who wait for it, and done again when the
// peer has left and come back or our own connection is another one. [X0-4.1-6]

import { backoffMs, isObject, type JsonObject, written } from "@mcpx/protocol";
import { pause } from "../core/pause.ts";
import { notify, type RoomCore } from "../core/room-core.ts";
import { RoomError } from "../core/room-error.ts";
import { sendRequest } from "./request.ts";

/** Revisions with a handshake, newest first; in rooms no others are spoken. [X0-4.1-7] [X0-4.1-9] */
export const mcpRevisions: readonly string[] = ["2025-11-25", "2025-06-18"];

/** What the peer said of itself: `protocolVersion`, `capabilities`, `serverInfo`, `instructions`. */
export function shakeHands(core: RoomCore, peer: string): Promise<JsonObject> {
  const known = core.handshakes.get(peer);
  if (known !== undefined) return known;
  const handshake = introduce(core, peer);
  core.handshakes.set(peer, handshake);
  // A failed one is forgotten, so that the next caller tries again.
  handshake.catch(() => {
    if (core.handshakes.get(peer) === handshake) core.handshakes.delete(peer);
  });
  return handshake;
}

async function introduce(core: RoomCore, peer: string): Promise<JsonObject> {
  const result = await sendRequest(core, peer, "initialize", {
    protocolVersion: mcpRevisions[0],
    capabilities: {},
    clientInfo: core.options.clientInfo,
  });
  if (!mcpRevisions.includes(written(result.protocolVersion)) || !isObject(result.capabilities)) {
    throw new RoomError("bad_answer", `${peer} speaks MCP ${written(result.protocolVersion).slice(0, 32)}`);
  }
  // Not waited for: what is sent after it comes after it.
  notify(core, [peer], "notifications/initialized", undefined).catch(() => {});
  return result;
}

const eagerAttempts = 3;

/** In the background, a few times; who calls later finds it done or does it. [X0-6.1-1] */
export async function shakeHandsEagerly(core: RoomCore, peer: string): Promise<void> {
  for (let attempt = 0; attempt < eagerAttempts; attempt += 1) {
    const { signal } = core.connection;
    if (core.level !== "full" || !core.roster.has(peer) || signal.aborted) return;
    try {
      await shakeHands(core, peer);
      return;
    } catch {
      await pause(backoffMs(attempt, { minMs: 500, maxMs: 5_000 }, Math.random()), signal);
    }
  }
}

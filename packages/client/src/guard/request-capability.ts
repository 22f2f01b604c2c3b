// Asks for a capability in the caller's own words, where the library's own asking is not enough. [AC-2-1]
import {
  type CapabilityGrant,
  capabilityMethods,
  isObject,
  type JsonObject,
  offerEncryption,
  type ToolSet,
} from "@mcpx/protocol";
import type { RoomCore } from "../core/room-core.ts";
import { roomCores } from "../core/room-cores.ts";
import { RoomError } from "../core/room-error.ts";
import type { Room } from "../room/room.ts";
import { heldIn } from "./held-capabilities.ts";

export interface CapabilityWish {
  tools: ToolSet;
  /** In seconds. */
  duration?: number;
  reason?: string;
  constraints?: {
    maxUses?: number;
    /** RFC 3339. */
    validFrom?: string;
    validUntil?: string;
    /** A JSON Schema. */
    arguments?: JsonObject;
  };
  /** The id of the capability it is to take the place of. */
  refresh?: string;
  /** Ends with this connection. [AC-8-7] */
  isBound?: boolean;
  /** The grant comes so that nobody else in the room can read it. [AC-8-6] */
  isEncrypted?: boolean;
  /** How many times it may be passed on. */
  delegations?: number;
  timeoutMs?: number;
}

/**
 * What is granted is kept, and carried by `callTool` from then on.
 * @example await requestCapability(room, "oven", { tools: ["heat"], duration: 600, constraints: { maxUses: 3 } });
 */
export async function requestCapability(
  room: Room,
  owner: string,
  wish: CapabilityWish,
): Promise<CapabilityGrant> {
  const { isBound, isEncrypted, timeoutMs, ...params } = wish;
  const core = coreOf(room);
  const { key, connectionId } = core;
  if (key === undefined) throw new RoomError("bad_option", "join with a key that can sign");
  const encryption = isEncrypted ? await offerEncryption(key, room.topic, owner) : undefined;
  const asked = {
    ...params,
    ...(isBound ? { channel: connectionId } : {}),
    ...(encryption === undefined ? {} : { encrypt_to: encryption.offer }),
  };
  const options = { propose: "auto", ...(timeoutMs === undefined ? {} : { timeoutMs }) } as const;
  const grant = await room.peer(owner).request(capabilityMethods.request, asked, options);
  if (!isObject(grant) || typeof grant.token !== "string") {
    throw new RoomError("bad_answer", `${owner} answered with a capability that is not a string`);
  }
  const token = grant.encrypted === true && encryption ? await encryption.decrypt(grant.token) : grant.token;
  heldIn(core).add(owner, token);
  return { ...(grant as CapabilityGrant), token };
}

/**
 * A capability that came another way: passed on by somebody, or given long ago.
 * @example holdCapability(room, "oven", token);
 */
export function holdCapability(room: Room, owner: string, token: string): void {
  heldIn(coreOf(room)).add(owner, token);
}

function coreOf(room: Room): RoomCore {
  const core = roomCores.get(room);
  if (core === undefined) throw new RoomError("bad_option", "the room was not made by this library");
  return core;
}

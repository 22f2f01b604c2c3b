// Joining a room of the gateway in this process: no network, no token, every rule of the room.
import { type JoinOptions, joinRoom, type LocalGateway, type Room, RoomError } from "@mcpx/client";
import type { RunningGateway, VirtualEnd } from "@mcpx/gateway";
import type { ParticipantKind, Principal } from "@mcpx/host";
import { errorTable, isMcpxError, isObject } from "@mcpx/protocol";

export type Rooms = Pick<RunningGateway, "enter" | "history">;

export interface LocalOptions
  extends Omit<JoinOptions, "topic" | "gateway" | "url" | "token" | "tokenProvider" | "isSecond"> {
  /** The participant may have a socket of its own, which then answers what it is asked; unless given it may. */
  isSecond?: boolean;
}

export function joinLocally(
  rooms: Rooms,
  principal: Principal,
  topic: string,
  { isSecond = true, ...options }: LocalOptions = {},
): Promise<Room> {
  let end: VirtualEnd | undefined;
  const gateway: LocalGateway = {
    connect: async (query) => {
      end = await rooms.enter(principal, query).catch(refusal);
      return end;
    },
    history: async (query) => {
      const page: unknown = JSON.parse(await rooms.history(principal, topic, query).catch(refusal));
      return isObject(page) ? page : {};
    },
  };
  return joinRoom({
    ...options,
    topic,
    gateway,
    ...(isSecond && { isSecond: () => end?.isSecond() ?? true }),
  });
}

/** The gateway's word and number, as its HTTP addresses answer them. */
function refusal(error: unknown): never {
  if (!isMcpxError(error)) throw error;
  const { code, retryAfterMs, suggestion } = error;
  throw new RoomError(code, error.message, {
    code: errorTable[code].code,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    data: { reason: code, suggestion },
    cause: error,
  });
}

/** Asks for tools in the place of those whose level does not allow it. */
export const scoutId = "mcpx.face";

export function joinAsScout(rooms: Rooms, topic: string): Promise<Room> {
  return joinLocally(rooms, ownPrincipal(scoutId, topic), topic, { history: 0, isSecond: false });
}

/** The latest time that RFC 3339 can write. */
const never = Date.parse("9999-12-31T23:59:59.999Z");

/** A participant of this process's own making: no token stands behind it that anybody could take. */
export function ownPrincipal(id: string, topic: string, kind: ParticipantKind = "agent"): Principal {
  return {
    id,
    kind,
    topics: [topic],
    level: "full",
    levelMax: "full",
    tools: [],
    admin: false,
    expiresAt: never,
    jti: `own:${id}`,
    issuer: "mcpx",
    tokenHash: "",
  };
}

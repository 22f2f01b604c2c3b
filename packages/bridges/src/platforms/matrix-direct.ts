// Rooms with one person alone, for private words. Which room is such a one is asked each time: others may have entered.
import { isObject } from "@mcpx/protocol";
import { errcodeOf, isFinal, type MatrixClient, matrixPath } from "./matrix-client.ts";

export interface DirectRooms {
  /** Whether nobody else is in that room. */
  isWith(room: string, user: string): Promise<boolean>;
  /** The private room that exists already, or a new one. */
  roomWith(user: string): Promise<string>;
}

const knownMax = 1_000;

export function createDirectRooms(call: MatrixClient["call"], own: () => string): DirectRooms {
  /** The private room in which each person has last written to the bridge. */
  const known = new Map<string, string>();
  const dataPath = () => matrixPath`/_matrix/client/v3/user/${own()}/account_data/m.direct`;

  const isWith = async (room: string, user: string): Promise<boolean> => {
    const { joined } = await call("GET", matrixPath`/_matrix/client/v3/rooms/${room}/joined_members`);
    const people = isObject(joined) ? Object.keys(joined) : [];
    const isAlone = people.includes(own()) && people.every((one) => one === own() || one === user);
    if (!isAlone) return false;
    if (known.size >= knownMax) known.clear();
    known.set(user, room);
    return true;
  };
  /** A room the bridge is no longer in is one that is not there. */
  const isThere = async (room: string, user: string): Promise<boolean> => {
    try {
      return await isWith(room, user);
    } catch (error) {
      if (isFinal(error)) return false;
      throw error;
    }
  };
  const kept = async (): Promise<Record<string, unknown>> => {
    try {
      return await call("GET", dataPath());
    } catch (error) {
      if (errcodeOf(error) === "M_NOT_FOUND") return {};
      throw error;
    }
  };
  return {
    isWith,
    async roomWith(user) {
      const data = await kept();
      const before = Array.isArray(data[user]) ? data[user].filter((room) => typeof room === "string") : [];
      for (const room of [known.get(user), ...before]) {
        if (room !== undefined && (await isThere(room, user))) return room;
      }
      const wish = { preset: "trusted_private_chat", is_direct: true, invite: [user] };
      const { room_id: made } = await call("POST", "/_matrix/client/v3/createRoom", wish);
      const room = String(made);
      await call("PUT", dataPath(), { ...data, [user]: [room, ...before].slice(0, 5) } as never);
      known.set(user, room);
      return room;
    },
  };
}

// RoomConnections of people in rooms: opened at the first word, shared by the words that follow, closed when idle.
import type { BridgeRooms, Member } from "./bridge-rooms.ts";
import { RoomConnection } from "./room-connection.ts";

export interface RoomConnections {
  /** Rejects where the gateway does not let them in. */
  roomConnectionOf(member: Member, topic: string): Promise<RoomConnection>;
  /** Their connections end; the next word opens others. */
  leave(linkId: string): void;
  readonly size: number;
  close(): void;
}

const roomConnectionsMax = 500;
const sweepMs = 30_000;

export function createRoomConnections(
  rooms: Pick<BridgeRooms, "enter">,
  { idleMs = 300_000 } = {},
): RoomConnections {
  const roomConnections = new Map<string, Promise<RoomConnection>>();
  const byLink = new Map<string, Set<string>>();

  const drop = (key: string) => {
    void roomConnections.get(key)?.then(
      (roomConnection) => roomConnection.close(),
      () => {},
    );
    roomConnections.delete(key);
  };
  const open = async (key: string, member: Member, topic: string): Promise<RoomConnection> => {
    const roomConnection = new RoomConnection(await rooms.enter(member, topic));
    void roomConnection.closed.then(() => roomConnections.delete(key));
    return roomConnection;
  };
  const sweep = async (maxIdleMs: number) => {
    const now = performance.now();
    for (const [key, opening] of [...roomConnections]) {
      const roomConnection = await opening.catch(() => undefined);
      if (roomConnection?.isIdle && now - roomConnection.usedAt >= maxIdleMs) drop(key);
    }
  };
  const timer = setInterval(() => void sweep(idleMs), sweepMs).unref();

  return {
    async roomConnectionOf(member, topic) {
      const key = JSON.stringify([member.participant, member.linkId, topic]);
      const known = roomConnections.get(key);
      if (known !== undefined) return known;
      if (roomConnections.size >= roomConnectionsMax) await sweep(0);
      const opening = open(key, member, topic);
      roomConnections.set(key, opening);
      opening.catch(() => roomConnections.delete(key));
      if (member.linkId !== undefined) {
        const keys = byLink.get(member.linkId) ?? new Set();
        byLink.set(member.linkId, keys.add(key));
      }
      return opening;
    },
    leave(linkId) {
      for (const key of byLink.get(linkId) ?? []) drop(key);
      byLink.delete(linkId);
    },
    get size() {
      return roomConnections.size;
    },
    close() {
      clearInterval(timer);
      for (const key of [...roomConnections.keys()]) drop(key);
    },
  };
}

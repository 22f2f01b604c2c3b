// Seats of people in rooms: opened at the first word, shared by the words that follow, closed when idle.
import type { BridgeRooms, Member } from "./bridge-rooms.ts";
import { Seat } from "./seat.ts";

export interface Seats {
  /** Rejects where the gateway does not let them in. */
  seatOf(member: Member, topic: string): Promise<Seat>;
  /** Their connections end; the next word opens others. */
  leave(linkId: string): void;
  readonly size: number;
  close(): void;
}

const seatsMax = 500;
const sweepMs = 30_000;

export function createSeats(rooms: Pick<BridgeRooms, "enter">, { idleMs = 300_000 } = {}): Seats {
  const seats = new Map<string, Promise<Seat>>();
  const byLink = new Map<string, Set<string>>();

  const drop = (key: string) => {
    void seats.get(key)?.then(
      (seat) => seat.close(),
      () => {},
    );
    seats.delete(key);
  };
  const open = async (key: string, member: Member, topic: string): Promise<Seat> => {
    const seat = new Seat(await rooms.enter(member, topic));
    void seat.closed.then(() => seats.delete(key));
    return seat;
  };
  const sweep = async (maxIdleMs: number) => {
    const now = performance.now();
    for (const [key, opening] of [...seats]) {
      const seat = await opening.catch(() => undefined);
      if (seat?.isIdle && now - seat.usedAt >= maxIdleMs) drop(key);
    }
  };
  const timer = setInterval(() => void sweep(idleMs), sweepMs).unref();

  return {
    async seatOf(member, topic) {
      const key = JSON.stringify([member.participant, member.linkId, topic]);
      const known = seats.get(key);
      if (known !== undefined) return known;
      if (seats.size >= seatsMax) await sweep(0);
      const opening = open(key, member, topic);
      seats.set(key, opening);
      opening.catch(() => seats.delete(key));
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
      return seats.size;
    },
    close() {
      clearInterval(timer);
      for (const key of [...seats.keys()]) drop(key);
    },
  };
}

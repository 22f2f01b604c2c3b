// How much memory the lists of servers may take: of one server, of all that one principal has registered, and of all.
// What is kept is looked up where it is kept, now and then; what is being read is counted as it comes.
import type { Listed } from "../catalogue/catalogue.ts";
import type { Lists } from "./list-slots.ts";
import type { Server } from "./server.ts";
import { payerOf, userOf } from "./server-origin.ts";

/** The book of a tree, or of several that share one. */
export interface ListBook {
  readonly perServerMax: number;
  readonly perPrincipalMax: number;
  readonly max: number;
  /** Memory for a server's name, capabilities and instructions. */
  readonly factsMax: number;
  /** All servers there are, of each tree. */
  readonly sources: Set<() => readonly Server[]>;
  /** What is being read, by who pays. */
  readonly readings: Map<string, number>;
  readingBytes: number;
  /** What was kept when it was counted last, and since. */
  counted: { at: number; byPayer: Map<string, number>; all: number } | undefined;
}

/** Room for one list that is being read. */
export interface ListCapacity {
  /** Memory of the list that was read. */
  readonly bytes: number;
  /** Room for that many bytes more; else why there is none. */
  grow(bytes: number): string | undefined;
  /** It is read once more, from the beginning. */
  restart(): void;
  /** It was read: kept, or not. What still comes is not counted any more. */
  close(kept: { replaces: Listed | undefined } | undefined): void;
}

export interface ListReading {
  readonly server: Server;
  /** Monotonic ms. */
  now(): number;
  /** The list that the new one takes the place of: only the part beyond its size needs capacity. */
  replaced(): Listed | undefined;
  /** Forgets what is kept of the server for other kinds of clients; false where there is nothing. */
  forgetOthers(): boolean;
}

/** Counting asks every server: not for each list, but sooner before one is cut. */
const countMs = 1_000;
const recountMs = 100;

export function createListBook(
  limits: Pick<ListBook, "perServerMax" | "perPrincipalMax" | "max" | "factsMax">,
): ListBook {
  return { ...limits, sources: new Set(), readings: new Map(), readingBytes: 0, counted: undefined };
}

/** For what is read and not kept. */
export function capacityUpTo(max: number): Pick<ListCapacity, "grow"> {
  let read = 0;
  return {
    grow(bytes) {
      read += bytes;
      return read > max ? `its list takes more than ${max} bytes of memory` : undefined;
    },
  };
}

export function openListCapacity(
  book: ListBook,
  { server, now, replaced, forgetOthers }: ListReading,
): ListCapacity {
  const payer = shareOf(server);
  const hasOwnShare = payerOf(server) !== undefined;
  let read = 0;
  let isOver = false;
  let ofServer = keptBytes(server);

  function fit(bytes: number): string | undefined {
    if (isOver) return "it arrived after the list had ended";
    const beyond = Math.max(0, bytes - (replaced()?.bytes ?? 0));
    if (ofServer + beyond > book.perServerMax)
      return `its lists take more than ${book.perServerMax} bytes of memory`;
    const { byPayer, all } = countKept(book, now());
    const reading = book.readingBytes - read;
    const own = (byPayer.get(payer) ?? 0) + (book.readings.get(payer) ?? 0) - read + beyond;
    if (hasOwnShare && own > book.perPrincipalMax)
      return "the lists of all servers that its principal has registered already take the memory allowed for one principal";
    // A registrant takes no more than it leaves for others.
    const free = book.max - all - reading - beyond;
    if (free < (hasOwnShare ? own : 0))
      return "the lists of all servers take nearly all the memory there is for them";
    return undefined;
  }

  function count(bytes: number): void {
    add(book.readings, payer, bytes - read);
    book.readingBytes += bytes - read;
    read = bytes;
  }

  return {
    get bytes() {
      return read;
    },
    grow(bytes) {
      let why = fit(read + bytes);
      if (why !== undefined && now() - (book.counted?.at ?? 0) >= recountMs) {
        book.counted = undefined;
        why = fit(read + bytes);
      }
      if (why !== undefined && forgetOthers()) {
        book.counted = undefined;
        ofServer = keptBytes(server);
        why = fit(read + bytes);
      }
      if (why === undefined) count(read + bytes);
      return why;
    },
    restart: () => count(0),
    close(kept) {
      const bytes = read;
      isOver = true;
      count(0);
      if (kept === undefined || book.counted === undefined) return;
      const change = bytes - (kept.replaces?.bytes ?? 0);
      add(book.counted.byPayer, payer, change);
      book.counted.all += change;
    },
  };
}

/** Whose share it is: its registrant, its user, or itself where the operator has configured it. */
function shareOf(server: Server): string {
  const payer = payerOf(server);
  if (payer !== undefined) return `registrant ${payer}`;
  const user = userOf(server);
  return user === undefined ? `server ${server.name}` : `user ${user}`;
}

function countKept(book: ListBook, now: number): NonNullable<ListBook["counted"]> {
  if (book.counted !== undefined && now - book.counted.at < countMs) return book.counted;
  const byPayer = new Map<string, number>();
  for (const source of book.sources) {
    for (const server of source()) add(byPayer, shareOf(server), keptBytes(server));
  }
  book.counted = { at: now, byPayer, all: sum(byPayer.values()) };
  return book.counted;
}

/** Of all kinds of clients, and of conversations that have their own; one list may be kept for several. */
function keptBytes(server: Server): number {
  const seen = new Set<Listed["entries"]>();
  let bytes = 0;
  for (const { listed } of slotsOf(server)) {
    if (listed === undefined || seen.has(listed.entries)) continue;
    seen.add(listed.entries);
    bytes += listed.bytes;
  }
  return bytes;
}

function* slotsOf({ lists, links }: Server): Generator<Lists[keyof Lists]> {
  for (const slots of lists.values()) yield* Object.values(slots);
  for (const { lists: own } of links.values()) if (own !== undefined) yield* Object.values(own);
}

function sum(values: Iterable<number>): number {
  let all = 0;
  for (const value of values) all += value;
  return all;
}

function add(counts: Map<string, number>, key: string, change: number): void {
  const next = (counts.get(key) ?? 0) + change;
  if (next <= 0) counts.delete(key);
  else counts.set(key, next);
}

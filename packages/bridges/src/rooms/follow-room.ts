// A room as a bridge reads it: every proposal followed at once, and every envelope to be had by its number, from memory
// or from history, in order and once.
import {
  callSecrets,
  createToolLists,
  type Proposal,
  ProposalTracker,
  type Room,
  type RoomEnvelope,
} from "@mcpx/client";
import { timestampMs } from "@mcpx/protocol";
import type { Position } from "../store/bridge-store.ts";

export interface Followed {
  readonly room: Room;
  readonly epoch: string;
  /** The newest number that was seen. */
  readonly latest: number;
  /** The envelopes after a number, oldest first, and the number they reach to. */
  after(seq: number): Promise<{ envelopes: RoomEnvelope[]; upTo: number }>;
  /** As it stands now, time included. */
  proposal(id: string): Proposal | undefined;
  /** Before its card is made: the tools of its targets are asked for. */
  learnSecrets(proposal: Proposal): Promise<void>;
  /** Where the arguments are secret by what is known now. */
  secretsOf(proposal: Proposal): readonly string[];
  close(): Promise<void>;
}

export interface FollowOptions {
  join(): Promise<Room>;
  /** Who may ask for tools; joined when the first is asked for. */
  scout(): Promise<Room>;
  /** Proposals are followed from here on, or from the newest envelope. */
  since(now: Position): number;
  /** Something was said. */
  onNews(): void;
  /** A proposal is not as it was. */
  onChange(proposal: Proposal): void;
  now(): number;
}

const pageSize = 100;
const keptMax = 500;
/** Timers are not longer than that. */
const lookMs = 60_000;
/** So long a card waits for a participant that does not say what it serves, once. */
const listMs = 5_000;

export async function followRoom({
  join,
  scout,
  since,
  onNews,
  onChange,
  now,
}: FollowOptions): Promise<Followed> {
  const tracker = new ProposalTracker();
  const kept: RoomEnvelope[] = [];
  let timer: NodeJS.Timeout | undefined;
  let isCaughtUp = false;
  const room = await join();
  const [epoch = "", first = "0"] = room.position.split(":");
  let latest = Number(first);

  const tell = (changes: ReturnType<ProposalTracker["observe"]>) => {
    for (const { type, proposal } of changes) if (type !== "proposed" && isCaughtUp) onChange(proposal);
    clearTimeout(timer);
    const next = tracker.nextExpiry();
    if (next === undefined) return;
    timer = setTimeout(
      () => tell(tracker.expire(now())),
      Math.min(Math.max(next - now(), 0) + 1, lookMs),
    ).unref();
  };
  const take = (envelope: RoomEnvelope) => tell(tracker.observe(envelope, receivedAt(envelope, now())));
  const onEnvelope = ({ detail }: { detail: RoomEnvelope }) => {
    if (detail.seq === undefined || detail.seq <= latest) return;
    latest = detail.seq;
    kept.push(detail);
    if (kept.length > keptMax) kept.shift();
    if (isCaughtUp) take(detail);
    onNews();
  };
  room.addEventListener("envelope", onEnvelope);
  let scouting: Promise<Room> | undefined;
  const asker = () => {
    scouting ??= scout();
    scouting.catch(() => {
      scouting = undefined;
    });
    return scouting;
  };
  const lists = createToolLists(room, { asker, timeoutMs: listMs });
  const secretsOf = (proposal: Proposal) => callSecrets(proposal, lists.all, room.peers);

  const page = async (from: number, to: number): Promise<RoomEnvelope[]> => {
    if (!room.hasHistory) return kept.filter(({ seq = 0 }) => seq > from && seq <= to);
    const { envelopes } = await room.history({ afterSeq: from, beforeSeq: to + 1, limit: pageSize });
    return envelopes.reverse();
  };
  const after = async (seq: number) => {
    const oldest = kept[0]?.seq ?? Number.POSITIVE_INFINITY;
    const upTo = Math.min(seq + pageSize, latest);
    if (oldest <= seq + 1) {
      return { envelopes: kept.filter((one) => (one.seq ?? 0) > seq && (one.seq ?? 0) <= upTo), upTo };
    }
    return { envelopes: upTo > seq ? await page(seq, upTo) : [], upTo };
  };

  try {
    // What comes meanwhile is kept, and observed in its turn.
    for (let at = since({ epoch, seq: latest }); at < latest; ) {
      const { envelopes, upTo } = await after(at);
      for (const envelope of envelopes) take(envelope);
      at = upTo;
    }
    isCaughtUp = true;
    tell(tracker.expire(now()));
  } catch (error) {
    await room.close();
    throw error;
  }
  return {
    room,
    epoch,
    get latest() {
      return latest;
    },
    after,
    proposal(id) {
      tell(tracker.expire(now()));
      return tracker.get(id);
    },
    learnSecrets: (proposal) => lists.load(secretsOf(proposal).unlisted),
    secretsOf: (proposal) => secretsOf(proposal).places,
    async close() {
      clearTimeout(timer);
      room.removeEventListener("envelope", onEnvelope);
      await (await scouting?.catch(() => undefined))?.close();
      await room.close();
    },
  };
}

function receivedAt({ at }: RoomEnvelope, now: number): number {
  const ms = at === undefined ? Number.NaN : timestampMs(at);
  return Number.isNaN(ms) ? now : ms;
}

// One room, as the page shows it: its timeline, who is here, what waits for a decision, and what each can do.
import {
  createToolLists,
  type JoinOptions,
  joinRoom,
  type Participant,
  type Proposal,
  type Room,
  type RoomEnvelope,
  type RoomState,
  type ToolList,
  type ToolLists,
} from "@mcpx/client";
import type { KeyBook } from "@mcpx/client/signing";
import type { JsonObject, Level, SignatureState } from "@mcpx/protocol";
import { type Cell, createCell, createTouch, type Later, type Readable } from "./cell.ts";
import { createTimeline, type Family, type Filter, type Timeline } from "./timeline.ts";

interface RoomView {
  readonly topic: string;
  /** Changes whenever anything does; the lists below are not copied. */
  readonly version: number;
  readonly state: RoomState | "failed";
  readonly reason: string | undefined;
  readonly id: string;
  readonly participants: readonly Participant[];
  readonly proposals: readonly Proposal[];
  readonly hasOlder: boolean;
  /** Of the last envelope that is news to a person: nothing that programs ask each other, nothing of their own pages. */
  readonly newsSeq: number;
  /** What is not known between two positions, in words. */
  readonly gap: string | undefined;
}

export interface RoomStore {
  readonly topic: string;
  readonly view: Readable<RoomView>;
  readonly timeline: Timeline;
  /** Tools by participant; absent while nobody has asked. */
  readonly tools: Readable<ReadonlyMap<string, ToolList>>;
  setFilter(change: Partial<Filter>): void;
  loadOlder(): Promise<void>;
  /** These wait, as the gateway knows: those that were proposed before what is loaded are fetched. */
  recall(waiting: readonly { id: string; seq: number }[]): void;
  loadTools(participant: string): void;
  /** What holds of the signature of an envelope of the timeline; `undefined`, at once, where there is none to judge. */
  judge(envelope: RoomEnvelope): Promise<SignatureState> | undefined;
  say(text: string): Promise<void>;
  callTool(participant: string, name: string, args: JsonObject): Promise<JsonObject>;
  /** `target`: who shall do it, where the proposal names nobody or several. */
  approve(
    proposal: Proposal,
    more?: { edited?: JsonObject | undefined; target?: string | undefined },
  ): Promise<JsonObject>;
  reject(proposal: Proposal, reason: string): Promise<void>;
  close(): Promise<void>;
}

export interface RoomOptions {
  topic: string;
  join: Omit<JoinOptions, "topic" | "verify">;
  /** The keys that signatures are judged by. */
  knownKeys?: (() => Promise<KeyBook>) | undefined;
  later: Later;
}

const olderAtOnce = 500;
const recentCount = 200;
/** A loud room is shown anew so often: nobody reads faster, and the rest of the page has its turn. */
const shownEveryMs = 100;

export function openRoom({ topic, join, later, knownKeys }: RoomOptions): RoomStore {
  const timeline = createTimeline();
  const tools = createCell<ReadonlyMap<string, ToolList>>(new Map());
  const view: Cell<RoomView> = createCell<RoomView>({
    topic,
    version: 0,
    state: "connecting",
    reason: undefined,
    id: "",
    participants: [],
    proposals: [],
    hasOlder: false,
    newsSeq: 0,
    gap: undefined,
  });
  let room: Room | undefined;
  let lists: ToolLists | undefined;
  let hasOlder = false;
  let newsSeq = 0;
  let gap: string | undefined;
  const ending = new AbortController();
  let isLoading = false;

  const publish = () => {
    const { version } = view.get();
    view.set({
      topic,
      version: version + 1,
      state: room?.state ?? view.get().state,
      reason: room?.reason ?? view.get().reason,
      id: room?.id ?? "",
      participants: sameOr(view.get().participants, room === undefined ? [] : [self(room), ...room.peers]),
      proposals: room?.proposals.all() ?? [],
      hasOlder,
      newsSeq,
      gap,
    });
  };
  const touch = createTouch(publish, later, shownEveryMs);

  const follow = (joined: Room) => {
    room = joined;
    const take = (envelope: RoomEnvelope) => {
      timeline.append(envelope, atOf(envelope));
      const family = timeline.find(envelope.id)?.family;
      const isNews =
        family !== undefined && newsFamilies.has(family) && !isSamePerson(envelope.from, joined.id);
      if (isNews) newsSeq = Math.max(newsSeq, envelope.seq ?? 0);
    };
    for (const envelope of joined.recent) take(envelope);
    hasOlder = joined.recent.length >= recentCount;
    joined.addEventListener("envelope", ({ detail }) => {
      take(detail);
      touch();
    });
    for (const name of ["presence", "proposal", "level", "state"] as const) {
      joined.addEventListener(name, touch);
    }
    lists = createToolLists(joined, { changed: () => tools.set(new Map(lists?.all)) });
    joined.addEventListener("gap", ({ detail: { from, to } }) => {
      gap = `The envelopes between ${from.seq} and ${to.seq} could not be loaded.`;
      touch();
    });
    touch();
  };

  let book: KeyBook | undefined;
  const enter = async () => {
    book = await knownKeys?.();
    const verify = book === undefined ? {} : { verify: book };
    return joinRoom({ ...join, ...verify, topic, history: recentCount, signal: ending.signal });
  };
  const joining = enter()
    .then((joined) => (ending.signal.aborted ? joined.close() : follow(joined)))
    .catch((error: Error) => {
      view.set({ ...view.get(), state: "failed", reason: error.message });
    });

  const asked = new Set<string>();
  const recallOne = async ({ id, seq }: { id: string; seq: number }) => {
    await joining;
    if (room === undefined || room.proposals.get(id) !== undefined) return;
    const { envelopes } = await room.history({ beforeSeq: seq + 1, limit: 1 });
    const [proposal] = envelopes;
    if (proposal?.id !== id) return;
    // It was asked for meanwhile: what has been said of it since is known already.
    const about = timeline.rows.map(({ envelope }) => envelope).filter((one) => isAbout(one, id));
    room.proposals.recall([proposal, ...about]);
    touch();
  };

  // One after the other: the first key that is seen of a sender is the one that counts.
  const judged = new WeakMap<RoomEnvelope, Promise<SignatureState>>();
  let judging: Promise<unknown> = Promise.resolve();
  const judge: RoomStore["judge"] = (envelope) => {
    const known = judged.get(envelope);
    if (known !== undefined) return known;
    // Most lines are unsigned, of senders who never sign, and come by the thousand.
    const isSilent = !("signature" in envelope) && book?.keysOf(envelope.from).length === 0;
    if (book === undefined || isSilent) return undefined;
    const state = judging.then(async () => (await joinedRoom().verify(envelope)).state);
    judging = state.catch(() => undefined);
    judged.set(envelope, state);
    return state;
  };

  const joinedRoom = (): Room => {
    if (room === undefined) throw new Error("The room is not joined yet");
    return room;
  };

  let refining: ReturnType<typeof setTimeout> | undefined;
  /** Bit by bit, each in a task of its own. */
  const refineOn = () => {
    clearTimeout(refining);
    if (ending.signal.aborted) return;
    refining = setTimeout(() => {
      const hasMore = timeline.refine();
      touch();
      if (hasMore) refineOn();
    });
  };

  return {
    topic,
    view,
    timeline,
    tools,
    setFilter(change) {
      timeline.setFilter(change);
      publish();
      refineOn();
    },
    async loadOlder() {
      if (isLoading || !hasOlder || room === undefined) return;
      isLoading = true;
      try {
        const first = timeline.rows.find(({ envelope }) => envelope.seq !== undefined)?.envelope.seq;
        const { envelopes, next } = await room.history({
          limit: olderAtOnce,
          ...(first !== undefined && { beforeSeq: first }),
        });
        const added = timeline.prepend(envelopes, atOf);
        hasOlder = next !== undefined && added > 0;
        // At once: a person who scrolls is kept where they are.
        publish();
      } finally {
        isLoading = false;
      }
    },
    recall(waiting) {
      for (const one of waiting) {
        if (asked.has(one.id)) continue;
        asked.add(one.id);
        // Asked for again with the next look where it could not be had.
        recallOne(one).catch(() => asked.delete(one.id));
      }
    },
    loadTools(participant) {
      if (!tools.get().has(participant)) void lists?.load([participant]);
    },
    judge,
    async say(text) {
      await joinedRoom().say(text);
    },
    callTool: (participant, name, args) => joinedRoom().peer(participant).callTool(name, args),
    approve(proposal, { edited, target } = {}) {
      return joinedRoom().proposals.fulfil(proposal, {
        ...(edited !== undefined && { params: { ...proposal.params, arguments: edited } }),
        ...(target !== undefined && { target }),
      });
    },
    reject: (proposal, reason) => joinedRoom().proposals.reject(proposal, reason === "" ? {} : { reason }),
    async close() {
      ending.abort(new Error("The room was left"));
      await joining;
      await room?.close();
    },
  };
}

const newsFamilies: ReadonlySet<Family> = new Set(["chat", "calls", "proposals"]);

/** Pages of one person: `anna@console.3f2a` and `anna@console.77c1`. */
function isSamePerson(one: string, other: string): boolean {
  return one.slice(0, one.lastIndexOf(".")) === other.slice(0, other.lastIndexOf("."));
}

function isAbout({ correlation_id, payload }: RoomEnvelope, id: string): boolean {
  return correlation_id === id || (Array.isArray(payload.proposals) && payload.proposals.includes(id));
}

/** Ourselves as others see us. */
function self({ id, level }: { id: string; level: Level }): Participant {
  return { id, kind: "human", privilege: level };
}

/** The list that is known already where it says the same: what has not changed is not drawn again. */
function sameOr(before: readonly Participant[], now: readonly Participant[]): readonly Participant[] {
  const [own, ...others] = now;
  const [ownBefore, ...othersBefore] = before;
  const isSame =
    before.length === now.length &&
    own?.id === ownBefore?.id &&
    own?.privilege === ownBefore?.privilege &&
    others.every((one, i) => one === othersBefore[i]);
  return isSame ? before : now;
}

function atOf({ at, ts }: RoomEnvelope): number {
  const ms = Date.parse(at ?? ts ?? "");
  return Number.isFinite(ms) ? ms : Date.now();
}

// Everything the page knows, put together: who is logged in, rooms, tree, gates, and the deck of what waits.
import type { Proposal } from "@mcpx/client";
import type { KeyBook } from "@mcpx/client/signing";
import { gateProposalId, isObject, type JsonObject } from "@mcpx/protocol";
import { type Api, ApiError, createApi } from "./api.ts";
import { createCell, createTouch, type Later, type Readable } from "./cell.ts";
import { type Deck, dealDeck, gateItem, type Item, isSameDeck, proposalItem } from "./deck.ts";
import { createGates, type Gates } from "./gates.ts";
import { followGates, type LiveGates, type Pages } from "./live-gates.ts";
import { openRoom, type RoomStore } from "./room.ts";

interface Topic {
  name: string;
  participants: number;
  seq: number;
  /** Proposals that wait in it, also where nobody looks. */
  waiting: readonly { id: string; seq: number }[];
}

interface TreeView {
  /** Of the tools: what has not changed is not sent again. */
  version: string;
  tools: readonly JsonObject[];
  servers: readonly JsonObject[];
  /** Servers whose tools are still to come. */
  awaited: ReadonlySet<string>;
  /** What stands first in the names of the tools. */
  root: string | undefined;
  isCut: boolean;
  /** Names of the tools that wait for a signature. */
  gated: ReadonlySet<string>;
}

interface SessionView {
  user: string;
  isDemo: boolean;
}

export interface App {
  readonly api: Api;
  /** `undefined` until known; null: nobody is logged in. */
  readonly session: Readable<SessionView | null | undefined>;
  readonly topics: Readable<readonly Topic[]>;
  /** It is known which there are, or that there are none. */
  readonly areTopicsKnown: Readable<boolean>;
  readonly rooms: Readable<ReadonlyMap<string, RoomStore>>;
  readonly tree: Readable<TreeView | undefined>;
  readonly gates: Gates;
  readonly deck: Readable<Deck>;
  /** Any page of a person who is logged in. */
  isOwn(participant: string): boolean;
  /** The gateway does not answer at the moment. */
  readonly isLost: Readable<boolean>;
  /** Joins it where that has not been done. */
  open(topic: string): RoomStore;
  /** Joins it again, after it was closed. */
  reopen(topic: string): void;
  /** What was decided need not be shown any more. */
  clearSettled(): void;
  refreshTree(): Promise<void>;
  /** Looks often for a while: servers that were just started list their tools within moments. */
  followTree(): Promise<void>;
  logOut(): Promise<void>;
  /** Of every login at this console, and of links nobody has used yet. */
  logOutEverywhere(): Promise<void>;
  /** Ends everything. */
  stop(): Promise<void>;
}

export interface AppOptions {
  origin: string;
  /** The page's half of the login. */
  half(): string;
  /** What this page calls itself among the pages of the same person. */
  tab(): string;
  /** Another page has the same name: a new one is needed. */
  renameTab(): void;
  fetch: typeof fetch;
  later: Later;
  /** Whether the page is hidden. */
  isHidden(): boolean;
  /** Where they cannot find each other, each looks for itself again and again. */
  pages?: Pages | undefined;
  /** The keys that signatures in rooms are judged by: one book for all rooms. */
  knownKeys?: () => Promise<KeyBook>;
}

const lookMs = 1_000;
const lookSlowlyMs = 5_000;
/** Where news come by themselves, in case of doubt. */
const lookRarelyMs = 60_000;
const treeMs = 10_000;
const followMs = 500;
const followTimes = 40;
/** As long as this a token for rooms is given out again. */
const sharedMs = 5_000;
/** So many rooms are joined by themselves, for their badges; and so many in which something waits. */
const roomsMax = 12;
const waitingRoomsMax = 40;

export function createApp(options: AppOptions): App {
  const { origin, tab, later } = options;
  const session = createCell<SessionView | null | undefined>(undefined);
  const topics = createCell<readonly Topic[]>([]);
  const areTopicsKnown = createCell(false);
  const rooms = createCell<ReadonlyMap<string, RoomStore>>(new Map());
  const tree = createCell<TreeView | undefined>(undefined);
  const deck = createCell<Deck>({ waiting: [], settled: [] });
  const isLost = createCell(false);
  const seen = new Set<string>();
  const dismissed = new Set<string>();
  const timers = new Set<ReturnType<typeof setTimeout>>();
  const leaving = new AbortController();
  let live: LiveGates | undefined;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let isStopped = false;

  const api = createApi({
    half: options.half,
    fetch: options.fetch,
    onLoggedOut: () => session.set(null),
  });
  const gates = createGates(api);

  /** Any page of a person who is logged in. */
  const isOwn = (id: string) => id.startsWith(`${session.get()?.user}@console.`);

  // What has not changed is not read again: arguments may be large, and a room may be loud.
  const items = new WeakMap<object, Item>();
  const itemOf = <T extends object>(of: T, make: (of: T) => Item) => {
    const item = items.get(of) ?? make(of);
    items.set(of, item);
    return item;
  };

  const touchDeck = createTouch(() => {
    // A gate that is shown in a room has its own card here.
    const gated = new Set(gates.view.get().map(({ id }) => gateProposalId(id)));
    const proposals = [...rooms.get().values()].flatMap(({ topic, view }) => {
      const { proposals, participants } = view.get();
      const isGate = ({ id, proposer }: Proposal) =>
        gated.has(id) && participants.some((one) => one.id === proposer && one.own === true);
      return proposals
        .filter((one) => !isGate(one))
        .map((one) => itemOf(one, () => proposalItem(topic, one, isOwn)));
    });
    const calls = gates.view.get().map((gate) => itemOf(gate, gateItem));
    const dealt = dealDeck([...proposals, ...calls], seen, dismissed);
    for (const { key } of dealt.waiting) seen.add(key);
    if (!isSameDeck(dealt, deck.get())) deck.set(dealt);
  }, later);
  gates.view.subscribe(touchDeck);

  const leaveRooms = async () => {
    const open = [...rooms.get().values()];
    rooms.set(new Map());
    await Promise.all(open.map((room) => room.close()));
  };
  // Who is not logged in is nowhere, and hears nothing.
  session.subscribe((now) => {
    if (now !== null) return;
    leaving.abort();
    void leaveRooms();
  });

  // Rooms that are joined together share one.
  let minted: { token: Promise<string>; tab: string; at: number } | undefined;
  const mint = async (name: string) => String((await api.call("POST", "/room-token", { tab: name })).token);
  const roomToken = () => {
    const now = Date.now();
    if (minted === undefined || minted.tab !== tab() || now - minted.at > sharedMs) {
      minted = { token: mint(tab()), tab: tab(), at: now };
    }
    return minted.token;
  };

  const open: App["open"] = (topic) => {
    const known = rooms.get().get(topic);
    if (known !== undefined) return known;
    const room = openRoom({
      topic,
      later,
      knownKeys: options.knownKeys,
      join: {
        url: origin,
        tokenProvider: roomToken,
        clientInfo: { name: "mcpx console", version: "0.1.0" },
        joinTimeoutMs: 60_000,
      },
    });
    rooms.set(new Map([...rooms.get(), [topic, room]]));
    const joinedAs = tab();
    let isReplaced = false;
    room.view.subscribe(({ state, reason }) => {
      touchDeck();
      if (isReplaced || state !== "closed" || reason !== "replaced") return;
      isReplaced = true;
      // Once for all rooms.
      if (tab() === joinedAs) options.renameTab();
      reopen(topic);
    });
    return room;
  };
  const reopen: App["reopen"] = (topic) => {
    const { [topic]: known, ...others } = Object.fromEntries(rooms.get());
    rooms.set(new Map(Object.entries(others)));
    void known?.close();
    open(topic);
  };

  const lookAtTopics = async () => {
    const answer = await api.call("GET", "/v0/topics");
    const listed = (Array.isArray(answer.topics) ? answer.topics : []).filter(isObject).map(readTopic);
    if (JSON.stringify(listed) !== JSON.stringify(topics.get())) topics.set(listed);
    areTopicsKnown.set(true);
    for (const { name } of listed.slice(0, roomsMax)) open(name);
    const withWaiting = listed.filter(({ waiting }) => waiting.length > 0);
    for (const { name, waiting } of withWaiting.slice(0, waitingRoomsMax)) open(name).recall(waiting);
  };

  const refreshTree = async () => {
    const before = tree.get();
    const answer = await api.call("GET", before === undefined ? "/tree" : `/tree?seen=${before.version}`);
    const isSame = before !== undefined && answer.version === before.version;
    tree.set({
      version: String(answer.version),
      tools: isSame ? before.tools : Array.isArray(answer.tools) ? answer.tools.filter(isObject) : [],
      servers: Array.isArray(answer.servers) ? answer.servers.filter(isObject) : [],
      awaited: new Set(Array.isArray(answer.awaited) ? answer.awaited.map(String) : []),
      root: typeof answer.segment === "string" ? answer.segment : undefined,
      isCut: answer.isCut === true,
      gated: isSame ? before.gated : new Set(Array.isArray(answer.gated) ? answer.gated.map(String) : []),
    });
  };

  const isSettled = () => {
    const now = tree.get();
    return now?.awaited.size === 0 && now.servers.every(({ state }) => state !== "idle");
  };
  const followTree = async () => {
    for (let time = 0; time < followTimes && !isStopped; time += 1) {
      await refreshTree().catch(() => undefined);
      if (time > 2 && isSettled()) return;
      await new Promise((resolve) => setTimeout(resolve, followMs));
    }
  };

  /** Again and again, until nobody is logged in. */
  const keep = (work: () => Promise<void>, everyMs: () => number) => {
    const turn = async () => {
      if (isStopped) return;
      try {
        if (session.get() === undefined) await begin();
        if (session.get()) await work();
        isLost.set(false);
      } catch (error) {
        if (error instanceof ApiError && error.status === 401) return;
        if (error instanceof ApiError && error.reason === "network") isLost.set(true);
      }
      const timer = setTimeout(() => {
        timers.delete(timer);
        void turn();
      }, everyMs());
      timers.add(timer);
    };
    void turn();
  };
  const begin = async () => {
    const { user, isDemo } = await api.call("GET", "/session");
    session.set({ user: String(user), isDemo: isDemo === true });
  };
  const lookAtGates = async () => {
    const now = performance.now();
    if (live?.isLive() && !gates.isStale() && now - lookedAt < lookRarelyMs) return;
    lookedAt = now;
    await gates.refresh();
  };
  const soon = () => (options.isHidden() ? lookSlowlyMs : lookMs);
  void begin()
    .catch(() => undefined)
    .then(() => {
      const { pages } = options;
      const { signal } = leaving;
      if (pages !== undefined && !signal.aborted) live = followGates({ api, gates, pages, signal });
      keep(lookAtGates, soon);
      keep(lookAtTopics, soon);
      keep(refreshTree, () => (tree.get()?.awaited.size ? soon() : treeMs));
    });

  return {
    api,
    session,
    topics,
    areTopicsKnown,
    rooms,
    tree,
    gates,
    deck,
    isOwn,
    isLost,
    open,
    reopen,
    refreshTree,
    followTree,
    clearSettled() {
      for (const { key } of deck.get().settled) dismissed.add(key);
      touchDeck();
    },
    async logOut() {
      await api.call("POST", "/logout", {});
      session.set(null);
    },
    async logOutEverywhere() {
      await api.call("POST", "/admin/console-logouts", {});
      session.set(null);
    },
    async stop() {
      isStopped = true;
      leaving.abort();
      for (const timer of timers) clearTimeout(timer);
      await leaveRooms();
    },
  };
}

function readTopic({ name, participants, seq, waiting }: JsonObject): Topic {
  const listed = (Array.isArray(waiting) ? waiting : []).filter(isObject);
  return {
    name: String(name),
    participants: Number(participants),
    seq: Number(seq),
    waiting: listed.map((one) => ({ id: String(one.id), seq: Number(one.seq) })),
  };
}

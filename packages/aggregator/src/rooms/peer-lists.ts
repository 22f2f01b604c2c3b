// What everybody in a room offers, kept up to date: asked for when somebody wants it, and again when a participant
// comes, goes or says that its tools have changed. Nobody waits long for somebody who does not answer.

import type { Participant, Room } from "@mcpx/client";
import { heapBytesOf, type JsonObject, written } from "@mcpx/protocol";
import { aliasNames } from "../names/alias-names.ts";
import { listPeer, type PeerListBounds } from "./list-peer.ts";
import type { PeerNames } from "./peer-names.ts";
import { isNothingServed } from "./room-fault.ts";

/** A tool of the room: what it is called here, and whose it is. */
interface RoomTool {
  readonly name: string;
  readonly peer: string;
  /** The tool's name at its peer. */
  readonly tool: string;
  readonly item: JsonObject;
}

export interface PeerListsOptions {
  room: Room;
  /** The members that may ask: the same room, unless our own level does not allow it. */
  lister(): Promise<Room>;
  isLeftOut(id: string): boolean;
  names: PeerNames;
  changed(): void;
  logLine(line: string): void;
  bounds?: Partial<PeerListsBounds>;
}

export interface PeerListsBounds extends PeerListBounds {
  /** How long a reader waits for those who have not answered. */
  waitMs: number;
  /** How long one who could not be asked is left alone, and how often one is asked at most. */
  retryMs: number;
  againMs: number;
  /** Tools of all peers together. */
  allToolsMax: number;
  allBytesMax: number;
}

const defaultBounds: PeerListsBounds = {
  toolsMax: 500,
  bytesMax: 4_194_304,
  listMs: 10_000,
  waitMs: 2_000,
  retryMs: 30_000,
  againMs: 1_000,
  allToolsMax: 10_000,
  allBytesMax: 33_554_432,
};

export interface PeerLists {
  /** Everybody's tools, as far as they are known within the time. */
  read(): Promise<RoomTool[]>;
  /** What is known now. */
  find(name: string): RoomTool | undefined;
  /** The peer's list has changed: ask for it again. */
  outdate(peer: string): void;
  close(): void;
}

/** One participant's. */
interface Slot {
  tools: readonly RoomTool[];
  /** As JSON, to see whether it has changed. */
  text: string;
  isGood: boolean;
  /** Monotonic ms. */
  notBefore: number;
  fetching: Promise<void> | undefined;
  /** Runs until the peer is asked again. */
  timer: NodeJS.Timeout | undefined;
  /** A reader waits for it and will see what comes. */
  isAwaited: boolean;
  /** It has kept a reader waiting: nobody waits for it until it has answered. */
  isMute: boolean;
}

const participantKey = "x-mcpx-participant";

export function createPeerLists(options: PeerListsOptions): PeerLists {
  const { room, lister, isLeftOut, names, changed, logLine } = options;
  const bounds = { ...defaultBounds, ...options.bounds };
  const slots = new Map<string, Slot>();
  const ending = new AbortController();
  let isWanted = false;

  function slotOf(id: string): Slot {
    const slot = slots.get(id) ?? {
      tools: [],
      text: "[]",
      isGood: false,
      notBefore: 0,
      fetching: undefined,
      timer: undefined,
      isAwaited: false,
      isMute: false,
    };
    slots.set(id, slot);
    return slot;
  }

  function refresh(id: string): Promise<void> | undefined {
    const slot = slotOf(id);
    if (slot.isGood || performance.now() < slot.notBefore) return slot.fetching;
    slot.fetching ??= fetch(id, slot).finally(() => {
      slot.fetching = undefined;
      slot.isAwaited = false;
    });
    return slot.fetching;
  }

  async function fetch(id: string, slot: Slot): Promise<void> {
    slot.isGood = true;
    slot.notBefore = performance.now() + bounds.againMs;
    try {
      const { tools, leftOut } = await listPeer(await lister(), id, bounds);
      slot.isMute = false;
      if (leftOut > 0) logLine(`${id}: some of its tools cannot be listed, or there are too many`);
      fill(slot, roomTools(names.of(id), id, tools));
    } catch (error) {
      // Who serves nothing will say when that has changed.
      slot.isGood &&= isNothingServed(error);
      if (!slot.isGood) slot.notBefore = performance.now() + bounds.retryMs;
      fill(slot, []);
    }
  }

  function fill(slot: Slot, tools: readonly RoomTool[]): void {
    const text = JSON.stringify(tools);
    const isNews = text !== slot.text && !slot.isAwaited;
    slot.tools = tools;
    slot.text = text;
    if (isNews && [...slots.values()].includes(slot)) changed();
  }

  /** In the background; somebody who says it all the time is asked now and then. */
  function outdate(id: string): void {
    if (isLeftOut(id) || id === room.id) return;
    const slot = slotOf(id);
    slot.isGood = false;
    if (!isWanted || slot.timer !== undefined) return;
    const waitMs = Math.min(slot.notBefore - performance.now(), bounds.againMs);
    slot.timer = setTimeout(
      () => {
        slot.timer = undefined;
        slot.notBefore = 0;
        if (slots.get(id) === slot) void refresh(id);
      },
      Math.max(0, waitMs),
    );
  }

  room.addEventListener(
    "presence",
    ({ detail: { event, participant } }) => {
      const { id } = participant;
      if (event === "leave") {
        const slot = slots.get(id);
        slots.delete(id);
        clearTimeout(slot?.timer);
        if (slot !== undefined && slot.tools.length > 0) changed();
      } else if (event === "join") {
        slotOf(id).notBefore = 0;
        outdate(id);
      }
    },
    ending,
  );
  room.addEventListener(
    "notification",
    ({ detail: { from, method } }) => {
      if (method === "notifications/tools/list_changed") outdate(from);
    },
    ending,
  );

  async function read(): Promise<RoomTool[]> {
    isWanted = true;
    const asked = room.peers.filter(({ id }: Participant) => !isLeftOut(id)).map(({ id }) => id);
    const waited = asked.flatMap((id) => {
      const fetching = refresh(id);
      const slot = slotOf(id);
      if (fetching === undefined || slot.isMute) return [];
      slot.isAwaited = true;
      return fetching;
    });
    await within(Promise.all(waited), bounds.waitMs);
    // What comes from now on is news.
    for (const id of asked) {
      const slot = slotOf(id);
      slot.isMute ||= slot.isAwaited && slot.fetching !== undefined;
      slot.isAwaited = false;
    }
    return bounded(asked.flatMap((id) => slotOf(id).tools));
  }

  function bounded(tools: readonly RoomTool[]): RoomTool[] {
    let bytes = 0;
    const kept = tools.slice(0, bounds.allToolsMax).filter(({ item }) => {
      bytes += heapBytesOf(item);
      return bytes <= bounds.allBytesMax;
    });
    if (kept.length < tools.length) logLine(`${tools.length - kept.length} tools are too many to be listed`);
    return kept;
  }

  return {
    read,
    find(name) {
      for (const { tools } of slots.values()) {
        const found = tools.find((tool) => tool.name === name);
        if (found !== undefined) return found;
      }
      return undefined;
    },
    outdate,
    close() {
      ending.abort();
      for (const { timer } of slots.values()) clearTimeout(timer);
      slots.clear();
    },
  };
}

function roomTools(segment: string, peer: string, tools: readonly JsonObject[]): RoomTool[] {
  const aliases = aliasNames(
    tools.map(({ name }) => String(name)),
    true,
  );
  return tools.map((item) => {
    const tool = written(item.name);
    const name = `${segment}.${aliases.get(tool)}`;
    const meta = { ...(item._meta as JsonObject | undefined), [participantKey]: peer };
    return { name, peer, tool, item: { ...item, name, _meta: meta } };
  });
}

async function within(work: Promise<unknown>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms);
  });
  await Promise.race([work, late]);
  clearTimeout(timer);
}

// Decisions of the whole gateway while somebody looks at them: those at gates and in the audit asked for, those in
// rooms read from what the page knows of them.
import { isObject } from "@mcpx/protocol";
import type { App } from "../store/app.ts";
import { createCell, type Readable } from "../store/cell.ts";
import { inTurn } from "../store/in-turn.ts";
import type { RoomStore } from "../store/room.ts";
import { readAudit } from "./audit.ts";
import {
  type Decision,
  gateDecision,
  inOrder,
  roomDecisions,
  settingDecision,
  settings,
} from "./decisions.ts";

interface DecisionsView {
  /** Newest first. */
  readonly decisions: readonly Decision[];
  /** What was said in rooms before this is not read; `undefined` where everything is. */
  readonly roomsSince: number | undefined;
  /** The first answers are there. */
  readonly isRead: boolean;
  /** Why not everything could be asked for. */
  readonly fault: string | undefined;
}

export interface Decisions {
  readonly view: Readable<DecisionsView>;
  /** What was said in rooms before, a page of each. */
  readFurther(): Promise<void>;
  stop(): void;
}

const roomsMs = 1_000;
const askMs = 5_000;
const settingsMs = 20_000;
/** So many of each room are read at once; more when asked for. */
const rowsAtFirst = 1_000;

export function followDecisions({
  api,
  rooms,
  gates,
  session,
}: Pick<App, "api" | "rooms" | "gates" | "session">): Decisions {
  const view = createCell<DecisionsView>({
    decisions: [],
    roomsSince: undefined,
    isRead: false,
    fault: undefined,
  });
  const known = new Map<RoomStore, { version: number; decisions: Decision[] }>();
  const filled = new Set<RoomStore>();
  let ofGates: Decision[] = [];
  let ofAudit: Decision[] = [];
  let isRead = false;
  /** By what was asked for. */
  const faults = new Map<string, string>();
  let isStopped = false;

  /** Any page of a person who is logged in. */
  const isOwn = (id: string) => id.startsWith(`${session.get()?.user}@console.`);
  const ofRoom = (room: RoomStore): Decision[] => {
    const { version } = room.view.get();
    const before = known.get(room);
    const isWaiting = before?.decisions.some(({ outcome }) => outcome === "waiting");
    if (before?.version === version && !isWaiting) return before.decisions;
    const decisions = roomDecisions(room.topic, room.timeline.rows, Date.now(), isOwn);
    known.set(room, { version, decisions });
    return decisions;
  };
  const publish = () => {
    const open = [...rooms.get().values()];
    const cut = open.filter((room) => room.view.get().hasOlder);
    const firsts = cut.map(({ timeline }) => timeline.rows[0]?.at ?? 0);
    view.set({
      decisions: inOrder([...open.flatMap(ofRoom), ...ofGates, ...ofAudit]),
      roomsSince: firsts.length === 0 ? undefined : Math.max(...firsts),
      isRead,
      fault: [...faults.values()][0],
    });
  };
  /** What cannot be had is said, and asked for again. */
  const ask = async (what: string, work: () => Promise<void>) => {
    try {
      await work();
      faults.delete(what);
    } catch (error) {
      faults.set(what, (error as Error).message);
    }
    if (!isStopped) publish();
  };
  const askGates = inTurn(() =>
    ask("gates", async () => {
      const { gates: listed } = await api.call("GET", "/admin/gates");
      const all = Array.isArray(listed) ? listed.filter(isObject) : [];
      ofGates = all.map(gateDecision).filter((one) => one !== undefined);
      isRead = true;
    }),
  );
  const askAudit = () =>
    ask("audit", async () => {
      const pages = await Promise.all(Object.keys(settings).map((action) => readAudit(api, { action })));
      ofAudit = pages.flat().map(settingDecision);
    });
  const fill = async (room: RoomStore) => {
    while (!isStopped && room.view.get().hasOlder && room.timeline.rows.length < rowsAtFirst) {
      const before = room.timeline.rows.length;
      await room.loadOlder();
      if (room.timeline.rows.length === before) return;
      await new Promise((resolve) => setTimeout(resolve));
    }
  };
  const look = () => {
    for (const room of rooms.get().values()) {
      if (filled.has(room) || room.view.get().state !== "live") continue;
      filled.add(room);
      void ask("rooms", () => fill(room));
    }
    publish();
  };

  const ended = [
    gates.view.subscribe(() => void askGates()),
    ...[
      { work: look, everyMs: roomsMs },
      { work: askGates, everyMs: askMs },
      { work: askAudit, everyMs: settingsMs },
    ].map(({ work, everyMs }) => {
      void work();
      const timer = setInterval(() => void work(), everyMs);
      return () => clearInterval(timer);
    }),
  ];
  return {
    view,
    async readFurther() {
      await ask("rooms", async () => {
        await Promise.all([...rooms.get().values()].map((room) => room.loadOlder()));
      });
    },
    stop() {
      isStopped = true;
      for (const end of ended) end();
    },
  };
}

// Who sits in a room through its MCP endpoint: for each token and topic one connection beside the participant's own socket,
// and one small tree over it. Opened when it is first used, closed when nobody uses it, gone when the room says so.
import type { Room } from "@mcpx/client";
import {
  type ByteLedger,
  type Clock,
  type Hold,
  type Logger,
  openTo,
  type Principal,
  principalKey,
  type SpanStarter,
} from "@mcpx/host";
import { type Limits, McpxError } from "@mcpx/protocol";
import { createListCapacity, createTree, type ListLimits, type RunningTree } from "../tree/create-tree.ts";
import { createRoomLink } from "./room-link.ts";

export interface RoomConnectionsOptions {
  /** Enters the room as this principal, in this process. */
  join(principal: Principal, topic: string): Promise<Room>;
  /** Joins the room as the gateway's own participant, which asks for tools on behalf of callers that may not. */
  joinAsScout(topic: string): Promise<Room>;
  /** Participants of this process that are nobody's peers. */
  isLeftOut(id: string): boolean;
  version: string;
  secret: Uint8Array;
  clock: Clock;
  log: Logger;
  /** Where traces of calls go; nowhere unless given. */
  tracer?: SpanStarter | undefined;
  limits: ListLimits & Pick<Limits, "mcpSessionsMax" | "mcpSessionsPerPrincipalMax" | "mcpSessionIdleMs">;
  ledger: ByteLedger;
  /** How long a call that was proposed is held. */
  holdMs?: number | undefined;
}

export interface RoomConnection {
  readonly topic: string;
  readonly room: Room;
  readonly tree: RunningTree;
  /** Requests and subscriptions. */
  uses: number;
  usedAt: number;
  /** Sessions that end some day and say so. */
  readonly sessions: Set<string>;
  /** Somebody without a session uses it too. */
  isOpenEnded: boolean;
  readonly ended: Promise<void>;
}

export interface RoomConnections {
  of(principal: Principal, topic: string): Promise<RoomConnection>;
  /** A session is over. */
  leave(session: string): void;
  /** Closes it where nobody has a use for it any more. */
  release(roomConnection: RoomConnection): void;
  close(): Promise<void>;
}

interface Place {
  readonly owner: string;
  readonly topic: string;
  readonly opening: Promise<RoomConnection>;
  roomConnection: RoomConnection | undefined;
}

const sweepMs = 5_000;
/** A flat price for a connection, a tree, and what both know of the room. */
const roomConnectionBytes = 524_288;

export function createRoomConnections(options: RoomConnectionsOptions): RoomConnections {
  const { clock, limits, log, isLeftOut, holdMs } = options;
  const listCapacity = createListCapacity(limits);
  const places = new Map<string, Place>();
  const scouts = new Map<string, Promise<Room>>();
  let isClosed = false;

  async function open(principal: Principal, topic: string, key: string, held: Hold): Promise<RoomConnection> {
    const room = await options.join(principal, topic);
    const ended = Promise.withResolvers<void>();
    // Beside it only what the room itself says is known of who may do what.
    const tree = createTree({
      name: `mcpx room ${topic}`,
      version: options.version,
      isBridge: true,
      clock,
      log,
      secret: options.secret,
      tracer: options.tracer,
      listCapacity,
      graceMs: 0,
      servers: [
        {
          name: topic,
          origin: { kind: "roomConnection", payer: principalKey(principal) },
          segment: undefined,
          isTrusted: false,
          isUnpinned: true,
          listMs: 10_000,
          open: async (_, taker) =>
            createRoomLink(room, taker, { scout: () => scoutOf(topic), isLeftOut, holdMs }),
        },
      ],
    });
    const roomConnection: RoomConnection = {
      topic,
      room,
      tree,
      uses: 0,
      usedAt: clock.monotonic(),
      sessions: new Set(),
      isOpenEnded: false,
      ended: ended.promise,
    };
    const onEnd = () => {
      places.delete(key);
      held.release();
      void tree.close();
      leaveScout(topic);
      ended.resolve();
    };
    room.addEventListener("state", ({ detail }) => detail.state === "closed" && onEnd());
    if (room.state === "closed") onEnd();
    else if (isClosed) await room.close();
    return roomConnection;
  }

  async function scoutOf(topic: string): Promise<Room> {
    const known = scouts.get(topic);
    if (known !== undefined) return known;
    const joining = options.joinAsScout(topic);
    scouts.set(topic, joining);
    const forget = () => scouts.get(topic) === joining && scouts.delete(topic);
    joining.then(
      (room) => room.addEventListener("state", ({ detail }) => detail.state === "closed" && forget()),
      forget,
    );
    return joining;
  }

  /** When nobody sits there any more. */
  function leaveScout(topic: string): void {
    if ([...places.values()].some((place) => place.topic === topic)) return;
    const scout = scouts.get(topic);
    scouts.delete(topic);
    void scout?.then(
      (room) => room.close(),
      () => {},
    );
  }

  function makeSpace(owner: string, isAdmin: boolean): void {
    const own = [...places.values()].filter((place) => place.owner === owner);
    if (own.length >= limits.mcpSessionsPerPrincipalMax) {
      const idle = own.filter(
        ({ roomConnection }) => roomConnection !== undefined && roomConnection.uses === 0,
      );
      idle.sort((a, b) => (a.roomConnection?.usedAt ?? 0) - (b.roomConnection?.usedAt ?? 0));
      if (idle[0]?.roomConnection === undefined) throw new McpxError("too_many_sessions");
      void idle[0].roomConnection.room.close();
    }
    if (places.size >= openTo(limits.mcpSessionsMax, isAdmin)) throw new McpxError("too_many_sessions");
  }

  function release(roomConnection: RoomConnection): void {
    if (roomConnection.sessions.size === 0 && !roomConnection.isOpenEnded && roomConnection.uses === 0)
      void roomConnection.room.close();
  }

  const sweep = setInterval(() => {
    const now = clock.monotonic();
    for (const { roomConnection } of places.values()) {
      if (roomConnection === undefined) continue;
      if (roomConnection.uses > 0) roomConnection.usedAt = now;
      else if (now - roomConnection.usedAt >= limits.mcpSessionIdleMs) void roomConnection.room.close();
    }
  }, sweepMs).unref();

  return {
    async of(principal, topic) {
      if (isClosed) throw new McpxError("draining");
      const owner = principalKey(principal);
      // Another token of the same participant may have another level.
      const key = JSON.stringify([topic, owner, principal.jti, principal.tokenHash]);
      const known = places.get(key);
      if (known !== undefined) return known.opening;
      makeSpace(owner, principal.admin);
      const held = options.ledger.hold({ key: owner, isAdmin: principal.admin }, roomConnectionBytes);
      const opening = open(principal, topic, key, held);
      const place: Place = { owner, topic, opening, roomConnection: undefined };
      places.set(key, place);
      opening.then(
        (roomConnection) => {
          place.roomConnection = roomConnection;
        },
        () => {
          held.release();
          if (places.get(key) === place) places.delete(key);
        },
      );
      return opening;
    },
    leave(session) {
      for (const { roomConnection } of places.values()) {
        if (roomConnection?.sessions.delete(session) === true) release(roomConnection);
      }
    },
    release,
    async close() {
      isClosed = true;
      clearInterval(sweep);
      const rooms = [
        ...[...places.values()].map(async ({ opening }) => (await opening).room.close()),
        ...[...scouts.values()].map(async (scout) => (await scout).close()),
      ];
      await Promise.allSettled(rooms);
    },
  };
}

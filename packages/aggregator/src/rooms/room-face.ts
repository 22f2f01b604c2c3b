// The face of rooms towards MCP clients: a tree whose every caller finds the tools of the room it came to, at a seat of
// its own there. The room's levels say who may do what; a token's `tools` are about the tree and mean nothing here.
import { type HttpRequest, mayEnter, type Principal } from "@mcpx/host";
import { isId, isMcpxError, type JsonObject, McpxError } from "@mcpx/protocol";
import type { Caller } from "../mcp/exchange.ts";
import type { Tree, Wishes } from "../mcp/tree.ts";
import { faultInRoom } from "./room-fault.ts";
import { instructionsOf } from "./room-link.ts";
import type { Seat, Seats } from "./seats.ts";

export const roomFacePath = "/rooms/:topic/mcp";

/** A topic the token does not cover looks like one that is not there. */
export function roomOf({ params }: HttpRequest, principal: Principal): string {
  const { topic } = params;
  if (isId(topic) && mayEnter(principal, topic)) return topic;
  throw noSuchRoom();
}

/** A session that wants to hear of changes, whichever seat it has by now. */
interface Listener {
  readonly caller: Caller;
  readonly wishes: Wishes;
  readonly deliver: (method: string, params: JsonObject) => void;
  close: (() => void) | undefined;
}

export function createRoomFace(seats: Seats): Tree {
  const listeners = new Set<Listener>();

  async function use<T>(caller: Caller, work: (seat: Seat, seated: Caller) => Promise<T>): Promise<T> {
    const seat = await seatOf(seats, caller);
    seat.uses += 1;
    if (caller.era === "legacy") seat.sessions.add(caller.key);
    else seat.isOpenEnded = true;
    try {
      await listenAgain(seat, caller);
      return await work(seat, seated(caller));
    } finally {
      letGo(seat);
    }
  }

  function letGo(seat: Seat): void {
    seat.uses -= 1;
    seat.usedAt = seat.tree.state.clock.monotonic();
    seats.release(seat);
  }

  /** A session outlives its seat: a new token has another, and what was heard at the old one ended with it. */
  async function listenAgain(seat: Seat, caller: Caller): Promise<void> {
    for (const listener of listeners) {
      // One client may be at several rooms, under one key.
      const isSame = listener.caller.key === caller.key && listener.caller.place === caller.place;
      if (!isSame || listener.close !== undefined) continue;
      await listen(seat, listener);
      listener.deliver("notifications/tools/list_changed", {});
    }
  }

  async function listen(seat: Seat, listener: Listener): Promise<Wishes> {
    const subscription = await seat.tree.subscribe(
      seated(listener.caller),
      listener.wishes,
      listener.deliver,
    );
    seat.uses += 1;
    const close = () => {
      if (listener.close !== close) return;
      listener.close = undefined;
      subscription.close();
      letGo(seat);
    };
    listener.close = close;
    void seat.ended.then(close);
    return subscription.granted;
  }

  return {
    describe: (caller) =>
      use(caller, async ({ tree, room }) => ({
        // The same at every room: a door says it once for all.
        info: { name: "mcpx", version: tree.state.version },
        capabilities: { tools: { listChanged: true } },
        instructions: instructionsOf(room),
      })),
    handle: (exchange) => use(exchange.caller, ({ tree }, caller) => tree.handle({ ...exchange, caller })),
    subscribe: (caller, wishes, deliver) =>
      use(caller, async (seat) => {
        const listener: Listener = { caller, wishes, deliver, close: undefined };
        const granted = await listen(seat, listener);
        listeners.add(listener);
        const close = () => {
          listeners.delete(listener);
          listener.close?.();
        };
        return { granted, close };
      }),
    tell: () => {},
    leave: ({ key }) => seats.leave(key),
  };
}

async function seatOf(seats: Seats, { principal, place }: Caller): Promise<Seat> {
  if (place === undefined) throw noSuchRoom();
  try {
    return await seats.of(principal, place);
  } catch (thrown) {
    const fault = faultInRoom(thrown);
    const isAbsent = isMcpxError(fault) && (fault.code === "not_found" || fault.code === "topic_forbidden");
    throw isAbsent ? noSuchRoom() : fault;
  }
}

/** As it is in the room: everything there may be seen. */
function seated(caller: Caller): Caller {
  const { toolBounds, ...principal } = caller.principal;
  return { ...caller, principal: { ...principal, tools: ["**"] }, profile: undefined };
}

function noSuchRoom(): McpxError {
  return new McpxError("not_found", "there is no such room");
}

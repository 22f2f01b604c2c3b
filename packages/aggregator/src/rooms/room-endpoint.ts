// The endpoint of rooms towards MCP clients: a tree whose every caller finds the tools of the room it came to, at a
// connection of its own there. The room's levels say who may do what; a token's `tools` are about the tree and mean
// nothing here.
import { type HttpRequest, mayEnter, type Principal } from "@mcpx/host";
import { isId, isMcpxError, type JsonObject, McpxError } from "@mcpx/protocol";
import type { Caller } from "../mcp/exchange.ts";
import type { Tree, Wishes } from "../mcp/tree.ts";
import type { RoomConnection, RoomConnections } from "./room-connections.ts";
import { faultInRoom } from "./room-fault.ts";
import { instructionsOf } from "./room-link.ts";

export const roomEndpointPath = "/rooms/:topic/mcp";

/** A topic the token does not cover looks like one that is not there. */
export function roomOf({ params }: HttpRequest, principal: Principal): string {
  const { topic } = params;
  if (isId(topic) && mayEnter(principal, topic)) return topic;
  throw noSuchRoom();
}

/** A session that wants to be told of changes, whichever connection it has by now. */
interface Listener {
  readonly caller: Caller;
  readonly wishes: Wishes;
  readonly deliver: (method: string, params: JsonObject) => void;
  close: (() => void) | undefined;
}

export function createRoomEndpoint(roomConnections: RoomConnections): Tree {
  const listeners = new Set<Listener>();

  async function use<T>(
    caller: Caller,
    work: (roomConnection: RoomConnection, seated: Caller) => Promise<T>,
  ): Promise<T> {
    const roomConnection = await roomConnectionOf(roomConnections, caller);
    roomConnection.uses += 1;
    if (caller.era === "legacy") roomConnection.sessions.add(caller.key);
    else roomConnection.isOpenEnded = true;
    try {
      await listenAgain(roomConnection, caller);
      return await work(roomConnection, seated(caller));
    } finally {
      letGo(roomConnection);
    }
  }

  function letGo(roomConnection: RoomConnection): void {
    roomConnection.uses -= 1;
    roomConnection.usedAt = roomConnection.tree.state.clock.monotonic();
    roomConnections.release(roomConnection);
  }

  /** A session outlives its connection: a new token has another, and what was heard at the old one ended with it. */
  async function listenAgain(roomConnection: RoomConnection, caller: Caller): Promise<void> {
    for (const listener of listeners) {
      // One client may be at several rooms, under one key.
      const isSame = listener.caller.key === caller.key && listener.caller.place === caller.place;
      if (!isSame || listener.close !== undefined) continue;
      await listen(roomConnection, listener);
      listener.deliver("notifications/tools/list_changed", {});
    }
  }

  async function listen(roomConnection: RoomConnection, listener: Listener): Promise<Wishes> {
    const subscription = await roomConnection.tree.subscribe(
      seated(listener.caller),
      listener.wishes,
      listener.deliver,
    );
    roomConnection.uses += 1;
    const close = () => {
      if (listener.close !== close) return;
      listener.close = undefined;
      subscription.close();
      letGo(roomConnection);
    };
    listener.close = close;
    void roomConnection.ended.then(close);
    return subscription.granted;
  }

  return {
    describe: (caller) =>
      use(caller, async ({ tree, room }) => ({
        // The same at every room: an endpoint says it once for all.
        info: { name: "mcpx", version: tree.state.version },
        capabilities: { tools: { listChanged: true } },
        instructions: instructionsOf(room),
      })),
    handle: (exchange) => use(exchange.caller, ({ tree }, caller) => tree.handle({ ...exchange, caller })),
    subscribe: (caller, wishes, deliver) =>
      use(caller, async (roomConnection) => {
        const listener: Listener = { caller, wishes, deliver, close: undefined };
        const granted = await listen(roomConnection, listener);
        listeners.add(listener);
        const close = () => {
          listeners.delete(listener);
          listener.close?.();
        };
        return { granted, close };
      }),
    tell: () => {},
    leave: ({ key }) => roomConnections.leave(key),
  };
}

async function roomConnectionOf(
  roomConnections: RoomConnections,
  { principal, place }: Caller,
): Promise<RoomConnection> {
  if (place === undefined) throw noSuchRoom();
  try {
    return await roomConnections.of(principal, place);
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
  return new McpxError("not_found", "there is no room with this name that your token covers");
}

// The tree as a participant of a room: its members have it as an MCP server among others, each with the tools that their
// own token names. Who calls is who asks, also where the call fulfils what somebody else has proposed. [B-TREE-1]
import type { Room, ServableServer } from "@mcpx/client";
import type { Clock, Logger, Principal } from "@mcpx/host";
import type { JsonObject, Limits } from "@mcpx/protocol";
import type { RunningTree } from "../create-tree.ts";
import { createMessageDoor } from "../doors/message-door.ts";
import type { Tree } from "../tree.ts";
import { confirmInRoom } from "./confirm-in-room.ts";
import { fitMessage } from "./fit-message.ts";
import { type GateProposals, proposeGates } from "./gate-proposals.ts";
import { memberPrincipal } from "./member-principal.ts";
import { ownEnd, type ServedTransport } from "./own-end.ts";

export interface TreeParticipantOptions {
  room: Room;
  tree: RunningTree;
  /** Of every connection a participant has to the room, as the gateway has let it in. */
  principalsOf(id: string): readonly Principal[];
  /** Its gates are shown here as proposals. */
  showsGates: boolean;
  clock: Clock;
  log: Logger;
  limits: Limits;
}

export interface TreeParticipant {
  /** The room is left to whoever has joined it. */
  close(): Promise<void>;
}

export async function serveTree(options: TreeParticipantOptions): Promise<TreeParticipant> {
  const { room, tree, showsGates, log, limits } = options;
  const { gates } = tree.state;
  const proposals =
    showsGates && gates !== undefined
      ? proposeGates({ room, state: tree.state, gates, log, limits, principalsOf: options.principalsOf })
      : noProposals;
  const shown = roomTree(tree);
  const serverFor = (peer: string): ServableServer =>
    peer === room.id ? ownEnd(proposals.outcomeOf) : memberServer(options, shown, peer);
  const served = await room.serve(serverFor, { methods: gates === undefined ? [] : ["mcpax/confirm"] });
  proposals.start();
  return {
    async close() {
      proposals.close();
      await served.close();
    },
  };
}

/** One member's conversation, in whatever era it speaks. */
function memberServer(options: TreeParticipantOptions, tree: Tree, peer: string): ServableServer {
  const { principalsOf, clock, log, limits } = options;
  let end = (): void => undefined;
  return {
    async connect(transport: ServedTransport) {
      // The era of rooms has no batches.
      const write = (message: JsonObject | JsonObject[]) => {
        const fitting = fitMessage(message as JsonObject, limits);
        if (fitting !== undefined) void transport.send(fitting);
      };
      const door = createMessageDoor(
        tree,
        // Asked for every request: tokens are refreshed, and rights taken.
        () => memberPrincipal(peer, principalsOf(peer)),
        { write, writeAside: write, onDone: () => {} },
        { clock, log, limits, names: "canonical" },
      );
      end = door.close;
      transport.onmessage = door.takeMessage;
      transport.onclose = door.close;
    },
    async close() {
      end();
    },
  };
}

/** As at a door; only what everybody in the room would read is left out. */
function roomTree(tree: RunningTree): Tree {
  const { state } = tree;
  return {
    ...tree,
    handle: (exchange) =>
      exchange.method === "mcpax/confirm" && state.gates !== undefined
        ? confirmInRoom(state, state.gates, exchange)
        : tree.handle(exchange),
  };
}

const noProposals: GateProposals = {
  start() {},
  outcomeOf: async () => ({ content: [] }),
  close() {},
};

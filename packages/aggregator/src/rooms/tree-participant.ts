// The tree as a participant of a room: its members have it as an MCP server among others, each with the tools that
// their own token names. Who calls is who asks, also where the call fulfils what somebody else has proposed. [B-TREE-1]
import type { Room, ServableServer } from "@mcpx/client";
import type { Clock, Logger, Principal } from "@mcpx/host";
import { type JsonObject, type Limits, McpxError, roomMethods } from "@mcpx/protocol";
import { createMessageEndpoint } from "../endpoints/message-endpoint.ts";
import type { Exchange } from "../mcp/exchange.ts";
import type { Tree } from "../mcp/tree.ts";
import type { RunningTree } from "../tree/create-tree.ts";
import { confirmInRoom } from "./confirm-in-room.ts";
import { fitMessage } from "./fit-message.ts";
import { type GateProposals, proposeGates } from "./gate-proposals.ts";
import { memberPrincipal } from "./member-principal.ts";
import { ownEnd, type ServedTransport } from "./own-end.ts";
import { createPeerPaces } from "./peer-paces.ts";
import { publicCaller, publicExchange } from "./public-caller.ts";

export interface TreeParticipantOptions {
  room: Room;
  tree: RunningTree;
  /** Of every connection a participant has to the room, as the gateway has let it in. */
  principalsOf(id: string): readonly Principal[];
  /** The same, of when they published this envelope; none where that is not known. */
  sendersOf(id: string, envelopeId: string): readonly Principal[];
  /** Its gates are shown here as proposals. */
  showsGates: boolean;
  clock: Clock;
  log: Logger;
  limits: Limits;
}

export interface TreeParticipant {
  /** Stops serving. The caller that joined the room also leaves it. */
  close(): Promise<void>;
}

/** Of one member, in all its sessions. */
const underWayMax = 64;

export async function serveTree(options: TreeParticipantOptions): Promise<TreeParticipant> {
  const { room, tree, showsGates, clock, log, limits } = options;
  const { gates } = tree.state;
  const proposals =
    showsGates && gates !== undefined
      ? proposeGates({ room, state: tree.state, gates, log, limits, principalsOf: options.principalsOf })
      : noProposals;
  const shown = roomTree(tree);
  const underWay = new Map<string, number>();
  const serverFor = (peer: string): ServableServer =>
    peer === room.id
      ? ownEnd(proposals.outcomeOf)
      : memberServer(options, boundedTree(shown, underWay, peer), peer);
  // Half of what a member may send: further requests are refused, and cost the others nothing.
  const perSecond = limits.envelopesPerSecondFull / 2;
  const paces = createPeerPaces({ perSecond, burst: perSecond * limits.burstFactor });
  const served = await room.serve(serverFor, {
    methods: gates === undefined ? [] : [roomMethods.confirmGate],
    retryAfterMs: (peer) => paces.retryAfterMs(peer, clock.monotonic()),
  });
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
  const { principalsOf, sendersOf, clock, log, limits } = options;
  let end = (): void => undefined;
  /** While a request is taken in: who has sent it. */
  let senders: readonly Principal[] | undefined;
  return {
    async connect(transport: ServedTransport) {
      // The era of rooms has no batches.
      const write = (message: JsonObject | JsonObject[]) => {
        const fitting = fitMessage(message as JsonObject, limits);
        if (fitting !== undefined) void transport.send(fitting);
      };
      const endpoint = createMessageEndpoint(
        tree,
        // Asked for every request: tokens are refreshed, and rights taken. News belong to none.
        () => memberPrincipal(peer, senders ?? principalsOf(peer)),
        { write, writeAside: write, isBehind: () => false, onDone: () => {} },
        { clock, log, limits, names: "canonical" },
      );
      end = endpoint.close;
      transport.onmessage = (message, { envelopeId = "" } = {}) => {
        senders = message.id === undefined ? undefined : sendersOf(peer, envelopeId);
        endpoint.takeMessage(message);
        senders = undefined;
      };
      transport.onclose = endpoint.close;
    },
    async close() {
      end();
    },
  };
}

/** As at an endpoint; only what everybody in the room would read is left out. */
function roomTree(tree: RunningTree): Tree {
  const { state } = tree;
  const handle = (exchange: Exchange) =>
    exchange.method === roomMethods.confirmGate && state.gates !== undefined
      ? confirmInRoom(state, state.gates, exchange)
      : tree.handle(exchange);
  return {
    ...tree,
    describe: (caller) => tree.describe(publicCaller(caller)),
    handle: (exchange) => handle(publicExchange(exchange)),
    // The room would read, and its log would keep, whatever any server says.
    subscribe: (caller, { unasked: _, ...wishes }, deliver) => tree.subscribe(caller, wishes, deliver),
  };
}

/** Sessions are begun anew at will: bounds of one session bound nothing. */
function boundedTree(tree: Tree, underWay: Map<string, number>, peer: string): Tree {
  return {
    ...tree,
    async handle(exchange) {
      const before = underWay.get(peer) ?? 0;
      if (before >= underWayMax) {
        throw new McpxError("rate_limited", `${underWayMax} requests are under way`, { retryAfterMs: 1_000 });
      }
      underWay.set(peer, before + 1);
      try {
        return await tree.handle(exchange);
      } finally {
        const left = (underWay.get(peer) ?? 1) - 1;
        if (left === 0) underWay.delete(peer);
        else underWay.set(peer, left);
      }
    },
  };
}

const noProposals: GateProposals = {
  start() {},
  outcomeOf: async () => ({ content: [] }),
  close() {},
};

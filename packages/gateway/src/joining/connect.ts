// GET /v0/ws: from an HTTP upgrade to a member of a room. [X0-5.2-1]
import type { Duplex } from "node:stream";
import { mayEnter, type PeerLink, type Principal, type Share, type UpgradeRequest } from "@mcpx/host";
import { isId, McpxError } from "@mcpx/protocol";
import type { Ownership } from "../cluster/ownership.ts";
import type { Gateway } from "../room/gateway-state.ts";
import { acceptUpgrade, checkUpgrade, WsSocket } from "../transports/ws.ts";
import { authenticate } from "./admit.ts";
import { prepareJoin } from "./join.ts";
import { attach, checkPlace, letIn } from "./let-in.ts";

/** Throws before the handshake is answered; the listener turns that into an HTTP error. */
export async function connect(
  gateway: Gateway,
  request: UpgradeRequest,
  duplex: Duplex,
  head: Buffer,
  share: Share,
): Promise<void> {
  checkUpgrade(request.raw);
  checkPlace(gateway);
  // Its end is not told again, and the place would be taken for good.
  if (duplex.destroyed) return;
  count(gateway, duplex);
  const remote = gateway.ownership && (await findElsewhere(gateway, gateway.ownership, request));
  if (remote?.owner !== undefined) {
    return gateway.edge?.join(remote.owner, { request, duplex, head, share }, remote.principal);
  }
  const { admission, room, givePlaceBack } = await letIn(gateway, {
    query: request.query,
    offered: request.headers["sec-websocket-protocol"],
    origin: request.remoteAddress,
    isVirtual: false,
    who: async (topic) => remote?.principal ?? authenticate(gateway, request, topic),
  });
  if (duplex.destroyed) givePlaceBack();
  else duplex.once("close", givePlaceBack);
  // Not to be forgotten as empty before its newcomer is in.
  room.pending += 1;
  try {
    const prepared = await prepareJoin(room, admission, gateway.limits, share.turn);
    if (duplex.destroyed) return;
    // Shutting down began meanwhile, and has told everybody it knew of.
    if (gateway.isDraining) throw new McpxError("draining", undefined, { retryAfterMs: 1_000 });
    const { limits, clock } = gateway;
    const { socket } = attach(gateway, admission, prepared, (events) => {
      acceptUpgrade(request.raw, duplex, admission.subprotocol);
      return new WsSocket(duplex, limits, clock.monotonic, events, share);
    });
    socket.start(head);
  } finally {
    room.pending -= 1;
  }
}

/** Whether a peer serves the topic that is asked for. Requests that nobody would let in are refused where all are. */
async function findElsewhere(
  gateway: Gateway,
  ownership: Ownership,
  request: UpgradeRequest,
): Promise<{ principal: Principal; owner: PeerLink | undefined } | undefined> {
  const topic = request.query.get("topic");
  if (topic === null || !isId(topic)) return undefined;
  const principal = await authenticate(gateway, request, topic).catch(() => undefined);
  if (principal === undefined || !mayEnter(principal, topic)) return undefined;
  return { principal, owner: await ownership.peerOf(topic) };
}

/** In a scope of its own: what listens to a connection's end would keep the whole request as long as that. */
function count(gateway: Gateway, duplex: Duplex): void {
  gateway.connections += 1;
  duplex.once("close", () => {
    gateway.connections -= 1;
  });
}

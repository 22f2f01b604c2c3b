// GET /v0/ws: from an HTTP upgrade to a member of a room. [X0-5.2-1]
import type { Duplex } from "node:stream";
import type { Share, UpgradeRequest } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";
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
  count(gateway, duplex);
  const { admission, room, givePlaceBack } = await letIn(gateway, {
    query: request.query,
    offered: request.headers["sec-websocket-protocol"],
    origin: request.remoteAddress,
    isVirtual: false,
    who: (topic) => authenticate(gateway, request, topic),
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
    acceptUpgrade(request.raw, duplex, admission.subprotocol);
    const { limits, clock } = gateway;
    const { socket } = attach(
      gateway,
      admission,
      prepared,
      (events) => new WsSocket(duplex, limits, clock.monotonic, events, share),
    );
    socket.start(head);
  } finally {
    room.pending -= 1;
  }
}

/** In a scope of its own: what listens to a connection's end would keep the whole request as long as that. */
function count(gateway: Gateway, duplex: Duplex): void {
  gateway.connections += 1;
  duplex.once("close", () => {
    gateway.connections -= 1;
  });
}

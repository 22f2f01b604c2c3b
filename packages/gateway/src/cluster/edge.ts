// The edge: connections that begin here, to rooms that are served at a peer. What a client sends goes to the owner of
// the topic as it came; what the owner sends is written as it came. Whether the client still reads and lives is judged
// here.

import type { Duplex } from "node:stream";
import type { PeerLink, Principal, Share, UpgradeRequest } from "@mcpx/host";
import { closeCodes } from "@mcpx/protocol";
import type { Gateway } from "../room/gateway-state.ts";
import {
  edgeKinds,
  ownerKinds,
  readDeliverMessage,
  readStreamMessage,
  streamMessage,
} from "../transports/peer-frames.ts";
import { isTooSlow } from "../transports/socket.ts";
import { acceptUpgrade, WsSocket } from "../transports/ws.ts";

/** What the owner is told of a newcomer. The connection between the gateways is sealed; it believes its peer. */
export interface RemoteJoin {
  stream: number;
  query: string;
  offered: string | null;
  origin: string;
  principal: Principal;
}

interface Handshake {
  request: UpgradeRequest;
  duplex: Duplex;
  head: Buffer;
  share: Share;
}

export interface Edge {
  /** From a handshake that is not answered yet to a connection. Throws before the handshake is answered. */
  join(owner: PeerLink, handshake: Handshake, principal: Principal): Promise<void>;
  /** What an owner says. */
  take(owner: PeerLink, kind: number, message: Buffer): void;
  /** Once a second: sockets that are silent or slow. */
  sweep(isPingTick: boolean): void;
  /** How many connections begin here and end elsewhere. */
  readonly size: number;
  /** Everybody comes back to another gateway. */
  drain(): void;
}

export function createEdge(gateway: Pick<Gateway, "limits" | "clock" | "metrics">): Edge {
  const { limits, clock, metrics } = gateway;
  const sockets = new Map<PeerLink, Map<number, WsSocket>>();
  let streams = 0;

  /** Of one owner; they end with the connection to it. */
  function socketsOf(owner: PeerLink): Map<number, WsSocket> {
    const known = sockets.get(owner);
    if (known !== undefined) return known;
    const made = new Map<number, WsSocket>();
    sockets.set(owner, made);
    void owner.ended.then(() => {
      sockets.delete(owner);
      for (const socket of made.values()) socket.close(closeCodes.draining, "the topic has moved; reconnect");
    });
    return made;
  }

  async function join(
    owner: PeerLink,
    { request, duplex, head, share }: Handshake,
    principal: Principal,
  ): Promise<void> {
    streams = (streams + 1) % 4_294_967_296;
    const stream = streams;
    const asked: RemoteJoin = {
      stream,
      query: withoutTicket(request.query),
      offered: request.headers["sec-websocket-protocol"] ?? null,
      origin: request.remoteAddress,
      principal,
    };
    const { subprotocol } = (await owner.ask("room.join", asked)) as { subprotocol?: string };
    const say = (kind: number, body = "") => owner.send(kind, streamMessage(stream, body));
    if (duplex.destroyed) {
      say(edgeKinds.closed);
      return;
    }
    const own = socketsOf(owner);
    acceptUpgrade(request.raw, duplex, subprotocol);
    const socket = new WsSocket(
      duplex,
      limits,
      clock.monotonic,
      {
        text: (text) => say(edgeKinds.text, text),
        fault: ({ code, detail }, isFatal) => say(edgeKinds.fault, JSON.stringify({ code, detail, isFatal })),
        closed: () => {
          own.delete(stream);
          say(edgeKinds.closed);
        },
      },
      share,
    );
    own.set(stream, socket);
    say(edgeKinds.begin);
    socket.start(head);
    // The connection to the owner was lost before its sockets were known to be here.
    if (!owner.isOpen) socket.close(closeCodes.draining, "the topic has moved; reconnect");
  }

  function cutOffIfSlow(socket: WsSocket): boolean {
    if (!isTooSlow(socket, limits)) return false;
    metrics.slowConsumers.inc();
    socket.close(closeCodes.tooSlow, "too_slow");
    return true;
  }

  function deliver(own: Map<number, WsSocket>, message: Buffer): void {
    for (const { stream, frames, envelopes } of readDeliverMessage(message)) {
      const socket = own.get(stream);
      if (socket !== undefined && !cutOffIfSlow(socket)) socket.writeFrames(frames, envelopes);
    }
  }

  function take(owner: PeerLink, kind: number, message: Buffer): void {
    const own = sockets.get(owner) ?? new Map<number, WsSocket>();
    if (kind === ownerKinds.deliver) deliver(own, message);
    else command(owner, own, kind, message);
  }

  function command(owner: PeerLink, own: Map<number, WsSocket>, kind: number, message: Buffer): void {
    const { stream, body } = readStreamMessage(message);
    // Its client may have gone meanwhile; the owner will be told.
    const socket = own.get(stream);
    if (kind === ownerKinds.close) {
      const { code, reason } = JSON.parse(body) as { code: number; reason: string };
      socket?.close(code, reason);
    } else if (kind === ownerKinds.destroy) socket?.destroy();
    else if (kind === ownerKinds.pause) socket?.pause();
    else if (kind === ownerKinds.resume) socket?.resume();
    else if (kind === ownerKinds.askDrained) {
      void socket?.drained().then(() => owner.send(edgeKinds.drained, streamMessage(stream)));
    } else throw new Error(`a message of the unknown kind ${kind}`);
  }

  const all = () => [...sockets.values()].flatMap((own) => [...own.values()]);

  return {
    join,
    take,
    sweep(isPingTick) {
      for (const socket of all()) {
        if (socket.silentMs() > limits.pingTimeoutMs) socket.destroy();
        else if (!cutOffIfSlow(socket) && isPingTick) socket.ping();
      }
    },
    get size() {
      return all().length;
    },
    drain() {
      for (const socket of all()) socket.close(closeCodes.draining, "draining; reconnect");
    },
  };
}

/** It was redeemed here, and opens nothing any more. */
function withoutTicket(query: URLSearchParams): string {
  const rest = new URLSearchParams(query);
  rest.delete("ticket");
  return rest.toString();
}

// The owner of a topic: connections that begin at a peer, the edge, and end in a room here. They pass the same way in as
// those that begin here; only who it is was found out at the edge.
import type { PeerLink, Principal } from "@mcpx/host";
import { closeCodes, isMcpxError, McpxError } from "@mcpx/protocol";
import type { RemoteJoin } from "../cluster/edge.ts";
import { prepareJoin } from "../joining/join.ts";
import { attach, checkPlace, letIn } from "../joining/let-in.ts";
import type { Gateway } from "../room/gateway-state.ts";
import { edgeKinds, readStreamMessage } from "../transports/peer-frames.ts";
import { EdgeOutbox, PeerSocket } from "../transports/peer-socket.ts";
import type { SocketEvents } from "../transports/socket.ts";

export interface Edges {
  /** Answers with the subprotocol. Rejects as the handshake would. */
  join(edge: PeerLink, asked: RemoteJoin): Promise<{ subprotocol?: string }>;
  /** What an edge says. */
  take(edge: PeerLink, kind: number, message: Buffer): void;
}

/** A connection of an edge: at first only let in, then a member's wire. */
interface Stream {
  begin(): void;
  /** Absent before the connection has begun. */
  wire?: { socket: PeerSocket; events: SocketEvents };
  /** It is over, at whatever point it was. */
  end(): void;
}

interface EdgeState {
  outbox: EdgeOutbox;
  streams: Map<number, Stream>;
}

export function createEdges(gateway: Gateway): Edges {
  const edges = new Map<PeerLink, EdgeState>();

  function stateOf(edge: PeerLink): EdgeState {
    const known = edges.get(edge);
    if (known !== undefined) return known;
    const made: EdgeState = { outbox: new EdgeOutbox(edge), streams: new Map() };
    edges.set(edge, made);
    void edge.ended.then(() => {
      edges.delete(edge);
      for (const stream of [...made.streams.values()]) stream.end();
    });
    return made;
  }

  async function join(edge: PeerLink, asked: RemoteJoin): Promise<{ subprotocol?: string }> {
    checkPlace(gateway);
    const { outbox, streams } = stateOf(edge);
    if (streams.has(asked.stream)) throw new McpxError("bad_request", "the stream is open already");
    const { admission, room, givePlaceBack } = await letIn(gateway, {
      query: new URLSearchParams(asked.query),
      offered: asked.offered ?? undefined,
      origin: asked.origin,
      isVirtual: false,
      who: async () => stillGood(gateway, asked.principal),
    });
    // Not to be forgotten as empty before its newcomer is in.
    room.pending += 1;
    try {
      const prepared = await prepareJoin(room, admission, gateway.limits);
      if (gateway.isDraining) throw new McpxError("draining", undefined, { retryAfterMs: 1_000 });
      if (!edge.isOpen) throw new McpxError("draining", "the edge was lost");
      const release = once(() => {
        room.pending -= 1;
      });
      const stream: Stream = {
        begin() {
          if (stream.wire !== undefined) return;
          release();
          const sendBack = (why: string) =>
            new PeerSocket(outbox, asked.stream, gateway.limits, () => {}).close(closeCodes.draining, why);
          // The topic may have moved since.
          if (gateway.rooms.get(room.topic) !== room) return sendBack("the topic has moved; reconnect");
          try {
            attach(gateway, admission, prepared, (events) => {
              const socket = new PeerSocket(outbox, asked.stream, gateway.limits, () => {
                streams.delete(asked.stream);
                givePlaceBack();
                events.closed();
              });
              stream.wire = { socket, events };
              return socket;
            });
          } catch (error) {
            if (!isMcpxError(error)) throw error;
            // When it comes again its handshake is refused, and says why.
            sendBack(`${error.code}; reconnect`);
          }
        },
        end() {
          release();
          if (stream.wire !== undefined) stream.wire.socket.ended();
          else {
            streams.delete(asked.stream);
            givePlaceBack();
          }
        },
      };
      streams.set(asked.stream, stream);
      const { subprotocol } = admission;
      return subprotocol === undefined ? {} : { subprotocol };
    } catch (error) {
      room.pending -= 1;
      givePlaceBack();
      throw error;
    }
  }

  function take(edge: PeerLink, kind: number, message: Buffer): void {
    const { stream: number, body } = readStreamMessage(message);
    // It may have ended here, and the edge not know it yet.
    const stream = edges.get(edge)?.streams.get(number);
    if (kind === edgeKinds.begin) stream?.begin();
    else if (kind === edgeKinds.text) stream?.wire?.events.text(body);
    else if (kind === edgeKinds.drained) stream?.wire?.socket.hasDrained();
    else if (kind === edgeKinds.closed) stream?.end();
    else if (kind === edgeKinds.fault) {
      const { code, detail, isFatal } = JSON.parse(body) as Fault;
      stream?.wire?.events.fault(new McpxError(code, detail), isFatal);
    } else throw new Error(`a message of the unknown kind ${kind}`);
  }

  return { join, take };
}

interface Fault {
  code: McpxError["code"];
  detail: string;
  isFatal: boolean;
}

/** The edge has verified the token; since then its end may have come. */
function stillGood({ clock }: Pick<Gateway, "clock">, principal: Principal): Principal {
  if (clock.now() >= principal.expiresAt) throw new McpxError("token_expired");
  return principal;
}

function once(work: () => void): () => void {
  let isDone = false;
  return () => {
    if (isDone) return;
    isDone = true;
    work();
  };
}

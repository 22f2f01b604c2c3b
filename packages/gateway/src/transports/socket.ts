// What a room knows of a connection's wire. `ws.ts` is the real one.
import type { Limits, McpxError } from "@mcpx/protocol";
import type { Slice } from "../delivery/batch.ts";

export interface RoomSocket {
  readonly queuedBytes: number;
  readonly queuedEnvelopes: number;
  /** How long the queue has made no progress; 0 while it is empty. */
  stalledMs(): number;
  /** How long nothing at all was heard from the other side. */
  silentMs(): number;
  /** Queues messages; never blocks. */
  write(slices: readonly Slice[]): void;
  /** Resolves when at most half of each bound is queued, or the socket has closed. */
  drained(): Promise<void>;
  /** The turn of the peer, for work that takes long; `undefined` where it has it. */
  turn(): Promise<void> | undefined;
  ping(): void;
  /** Stops and goes on reading, so that a fast sender waits in its own kernel and not in our memory. */
  pause(): void;
  resume(): void;
  /** Closes after what is queued; `reason` is shown to the other side. */
  close(code: number, reason: string): void;
  /** Ends at once. */
  destroy(): void;
}

/** What the wire tells the room. */
export interface SocketEvents {
  text(text: string): void;
  /** A frame that is no envelope's text. `isFatal`: the frame layer is broken and the socket is closing. */
  fault(error: McpxError, isFatal: boolean): void;
  closed(): void;
}

/** A slow reader is known by a bound, never by memory that is gone. */
export function isTooSlow(
  socket: Pick<RoomSocket, "queuedBytes" | "queuedEnvelopes" | "stalledMs">,
  limits: Pick<Limits, "queueBytesMax" | "queueEnvelopesMax" | "queueStallMs">,
): boolean {
  return (
    socket.queuedBytes > limits.queueBytesMax ||
    socket.queuedEnvelopes > limits.queueEnvelopesMax ||
    socket.stalledMs() > limits.queueStallMs
  );
}

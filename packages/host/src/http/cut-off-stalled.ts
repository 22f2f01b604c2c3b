// Ends the connection of a reader that takes nothing more of an answer; a slow one is let be.
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** Looks until the returned function is called: that is for when nothing waits any more, and for `close`. */
export function cutOffStalled(response: ServerResponse, stallMs: number): () => void {
  let before = takenFrom(response.socket);
  const timer = setInterval(() => {
    const taken = takenFrom(response.socket);
    if (response.writableLength > 0 && taken !== undefined && taken === before) response.destroy();
    before = taken;
  }, stallMs).unref();
  return () => clearInterval(timer);
}

/** What Node writes to, and looks at for its own timeouts; these would not do, as bytes that come in start them anew. */
interface Handle {
  bytesWritten: number;
  writeQueueSize: number;
  /** Where what TLS makes of them goes. */
  _parent?: Handle;
}

/**
 * How many bytes the system has taken; `undefined` while answers to earlier requests have the socket. The socket itself
 * does not know: to it, a write is either all there or all gone.
 */
function takenFrom(socket: Socket | null): number | undefined {
  const own = (socket as { _handle?: Handle | null } | null)?._handle;
  const handle = own?._parent ?? own;
  return handle ? handle.bytesWritten - handle.writeQueueSize : undefined;
}

// Loaded into a gateway's process before the gateway: whoever connects to the socket named behind the `?` is told how
// much memory is in use once everything that is not needed has been collected.
import { createServer } from "node:net";
import { setImmediate as turn } from "node:timers/promises";

export interface MemoryInUse {
  /** On the JavaScript heap, and beside it in buffers. */
  heapBytes: number;
  bufferBytes: number;
}

const path = new URL(import.meta.url).searchParams.get("socket") ?? "";
createServer(async (socket) => {
  for (let i = 0; i < 4; i += 1) {
    globalThis.gc?.();
    await turn();
  }
  const { heapUsed, external } = process.memoryUsage();
  socket.end(JSON.stringify({ heapBytes: heapUsed, bufferBytes: external } satisfies MemoryInUse));
})
  .listen(path)
  .unref();

// Comes, asks, reads a little of the answer, and goes; then again.
import { connect } from "node:net";
import type { Going, Request } from "./attack.ts";
import { requestBytes } from "./request-bytes.ts";

export async function visit(request: Request, readBytes: number, going: Going): Promise<void> {
  const bytesFor = await requestBytes(request, going);
  for (let lane = 0; lane < going.attack.concurrency; lane += 1) come(bytesFor(lane), readBytes, going);
}

function come(bytes: Buffer, readBytes: number, going: Going): void {
  const { target, tally, signal } = going;
  if (signal.aborted) return;
  const { hostname, port } = new URL(target.url);
  const socket = connect(Number(port), hostname).setNoDelay(true);
  let count = 0;
  socket.on("connect", () => {
    tally.send(bytes.length);
    socket.write(bytes);
  });
  socket.on("data", (chunk) => {
    const status = count === 0 ? chunk.toString("latin1", 9, 12) : undefined;
    if (status !== undefined) tally.answer(status);
    count += chunk.length;
    // A refusal is short, and nothing follows it.
    if (count >= readBytes || (status !== undefined && status >= "300")) socket.destroy();
  });
  socket.on("error", (error: NodeJS.ErrnoException) => tally.answer(error.code ?? error.message));
  socket.on("close", () => come(bytes, readBytes, going));
  signal.addEventListener("abort", () => socket.destroy());
}

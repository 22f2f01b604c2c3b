// One request after the other on each of many connections, answers read to their end.
import { connect } from "node:net";
import type { Going, Request } from "./attack.ts";
import { answerReader, requestBytes } from "./request-bytes.ts";

/** How long one who was cut off waits before it comes again. */
const againMs = 20;

export async function sendRequests(request: Request, going: Going): Promise<void> {
  const bytesFor = await requestBytes(request, going);
  for (let lane = 0; lane < going.attack.concurrency; lane += 1) ask(bytesFor(lane), going);
}

function ask(bytes: Buffer, going: Going): void {
  const { target, tally, signal } = going;
  if (signal.aborted) return;
  const { hostname, port } = new URL(target.url);
  const socket = connect(Number(port), hostname).setNoDelay(true);
  const next = () => {
    if (signal.aborted) return;
    tally.send(bytes.length);
    socket.write(bytes);
  };
  const read = answerReader((answer) => {
    tally.answer(answer);
    next();
  });
  socket.on("connect", next).on("data", read);
  socket.on("error", (error: NodeJS.ErrnoException) => tally.answer(error.code ?? error.message));
  socket.on("close", () => setTimeout(ask, againMs, bytes, going));
  signal.addEventListener("abort", () => socket.destroy());
}

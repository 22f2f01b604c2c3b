// A device on a TCP line that says the same bytes without end.
import { createServer, type Socket } from "node:net";
import type { Going, Verb } from "./attack.ts";

const blockBytes = 65_536;

export function makeNoise(
  verb: Verb & { way: "noise" },
  { target, attack, tally, signal }: Going,
): Promise<void> {
  const one = verb.noise(attack.bytes);
  const block = Buffer.concat(
    Array.from({ length: Math.max(1, Math.floor(blockBytes / one.length)) }, () => one),
  );
  const server = createServer((socket) => {
    tally.answer("connected");
    socket.on("error", (error: NodeJS.ErrnoException) => tally.answer(error.code ?? error.message));
    socket.on("close", () => tally.answer("cut off"));
    socket.on("data", () => {});
    const write = () => pour(socket);
    socket.on("drain", write);
    signal.addEventListener("abort", () => socket.destroy());
    write();
  });
  const pour = (socket: Socket) => {
    while (socket.writable) {
      tally.send(block.length, block.length / one.length);
      if (!socket.write(block)) return;
    }
  };
  signal.addEventListener("abort", () => server.close());
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(target.devicePort, "127.0.0.1", resolve);
  return promise;
}

// What an idle connection costs: 5 000 of them in 250 rooms. V8's young generation grows with what is allocated while
// they come in, by up to tens of megabytes, and stays for a while: once as it is, once with its size held, so that
// what is counted belongs to connections.
import { setTimeout as sleep } from "node:timers/promises";
import { sized } from "../sizes.ts";
import { FrameCounter } from "./frame-counter.ts";
import { startServerProcess } from "./server-process.ts";

const connections = sized(5_000, 60);
const rooms = sized(250, 10);
const settleMs = sized(3_000, 100);

const heldYoung = ["--min-semi-space-size=16", "--max-semi-space-size=16"];

export async function benchIdle() {
  return {
    connections,
    rssBytesPerConnection: await rssPerConnection(heldYoung),
    rssBytesPerConnectionWithYoungGeneration: await rssPerConnection([]),
  };
}

async function rssPerConnection(flags: readonly string[]): Promise<number> {
  const server = await startServerProcess("./our-server.ts", [connections, 0, rooms], flags);
  const join = (i: number) => FrameCounter.connect(server.url, `bench-${i % rooms}`, server.tokens[i]);
  // The first room's worth warms the server up, so that its code is not counted as connections.
  const clients: FrameCounter[] = [];
  for (let i = 0; i < rooms; i += 1) clients.push(await join(i));
  const before = await server.usage();
  for (let i = rooms; i < connections; i += 50) {
    clients.push(...(await Promise.all(Array.from({ length: 50 }, (_, n) => join(i + n)))));
  }
  await sleep(settleMs);
  const after = await server.usage();
  for (const { socket } of clients) socket.destroy();
  await server.stop();
  return Math.round((after.rssBytes - before.rssBytes) / (connections - rooms));
}

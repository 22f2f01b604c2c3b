// What an idle connection costs: 5 000 of them in 250 rooms.
import { setTimeout as sleep } from "node:timers/promises";
import { FrameCounter } from "./frame-counter.ts";
import { startServerProcess } from "./server-process.ts";

const connections = 5_000;
const rooms = 250;

export async function benchIdle(): Promise<{ connections: number; rssBytesPerConnection: number }> {
  const server = await startServerProcess("./our-server.ts", [connections, 0, rooms]);
  const join = (i: number) => FrameCounter.connect(server.url, `bench-${i % rooms}`, server.tokens[i]);
  // The first room's worth warms the server up, so that its code is not counted as connections.
  const clients: FrameCounter[] = [];
  for (let i = 0; i < rooms; i += 1) clients.push(await join(i));
  const before = await server.usage();
  for (let i = rooms; i < connections; i += 50) {
    clients.push(...(await Promise.all(Array.from({ length: 50 }, (_, n) => join(i + n)))));
  }
  await sleep(3_000);
  const after = await server.usage();
  for (const { socket } of clients) socket.destroy();
  await server.stop();
  return {
    connections,
    rssBytesPerConnection: Math.round((after.rssBytes - before.rssBytes) / (connections - rooms)),
  };
}

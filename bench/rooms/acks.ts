// How long an acknowledgement takes at a steady 2 000 envelopes a second, checkpoints going on.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import WebSocket from "ws";
import { percentile } from "./load.ts";
import { startServerProcess } from "./server-process.ts";

const perSecond = 2_000;
const seconds = 10;

export async function benchAcks(): Promise<{ p50: number; p99: number; max: number }> {
  const server = await startServerProcess("./our-server.ts", [1, 500_000]);
  const ws = new WebSocket(`${server.url.replace("http", "ws")}/v0/ws?topic=bench-0`, {
    headers: { authorization: `Bearer ${server.tokens[0]}` },
  });
  await new Promise((resolve) => ws.once("open", resolve));
  const sentAt = new Map<string, number>();
  const seen: number[] = [];
  ws.on("message", (data) => {
    const { payload } = JSON.parse(String(data));
    const at = sentAt.get(payload.id);
    if (payload.event === "ack" && at !== undefined) seen.push(performance.now() - at);
  });
  const total = perSecond * seconds;
  const began = performance.now();
  for (let i = 0; i < total; i += 1) {
    const wait = began + (i * 1000) / perSecond - performance.now();
    // A timer cannot wait less than a millisecond: two envelopes leave together.
    if (wait > 1) await sleep(wait);
    const id = randomUUID();
    sentAt.set(id, performance.now());
    ws.send(JSON.stringify({ protocol: "mcpx/v0.1", id, kind: "chat", payload: { text: "x".repeat(200) } }));
  }
  while (seen.length < total) await sleep(20);
  ws.terminate();
  await server.stop();
  seen.sort((a, b) => a - b);
  return { p50: percentile(seen, 50), p99: percentile(seen, 99), max: seen.at(-1) ?? Number.NaN };
}

// How long an acknowledgement takes at a steady 2 000 envelopes a second, checkpoints going on; in turns with it, how
// long the disk alone takes.
import { fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import WebSocket from "ws";
import { sized } from "../sizes.ts";
import { percentile } from "./load.ts";
import { startServerProcess } from "./server-process.ts";

const prefilled = sized(500_000, 1_000);
const perSecond = 2_000;
const turns = sized(10, 1);
const turnMs = sized(1_000, 100);

type Waits = Record<"p50" | "p99" | "max", number>;

interface Acks {
  ours: Waits;
  /** Of the first second, while the server's code and the ids of its log are being loaded. */
  cold: Waits;
  disk: Waits;
  ratio: { p99_vs_disk: number };
}

export async function benchAcks(): Promise<Acks> {
  const server = await startServerProcess("./our-server.ts", [1, prefilled]);
  const ws = new WebSocket(`${server.url.replace("http", "ws")}/v0/ws?topic=bench-0`, {
    headers: { authorization: `Bearer ${server.tokens[0]}` },
  });
  await new Promise((resolve) => ws.once("open", resolve));
  const disk = startDisk();
  const cold = waits(await ackTurn(ws));
  const acked: number[] = [];
  const synced: number[] = [];
  for (let turn = 0; turn < turns; turn += 1) {
    acked.push(...(await ackTurn(ws)));
    synced.push(...(await disk.turn()));
  }
  disk.stop();
  ws.terminate();
  await server.stop();
  const ours = waits(acked);
  const bare = waits(synced);
  return { ours, cold, disk: bare, ratio: { p99_vs_disk: ours.p99 / bare.p99 } };
}

async function ackTurn(ws: WebSocket): Promise<number[]> {
  const sentAt = new Map<string, number>();
  const seen: number[] = [];
  const read = (data: WebSocket.RawData) => {
    const { payload } = JSON.parse(String(data));
    const at = sentAt.get(payload.id);
    if (payload.event === "ack" && at !== undefined) seen.push(performance.now() - at);
  };
  ws.on("message", read);
  const total = (perSecond * turnMs) / 1000;
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
  ws.off("message", read);
  return seen;
}

function startDisk(): { turn(): Promise<number[]>; stop(): void } {
  const child = fork(new URL("./disk.ts", import.meta.url));
  return {
    turn: () =>
      new Promise((resolve, reject) => {
        child.once("exit", (code) => reject(new Error(`the disk's process ended with ${code}`)));
        child.once("message", (waited) => resolve(waited as number[]));
        child.send(turnMs);
      }),
    stop: () => child.disconnect(),
  };
}

function waits(seen: number[]): Waits {
  seen.sort((a, b) => a - b);
  return { p50: percentile(seen, 50), p99: percentile(seen, 99), max: seen.at(-1) ?? Number.NaN };
}

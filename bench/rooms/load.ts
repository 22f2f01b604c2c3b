// Receivers and one publisher in this process, against a server in another.
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { FrameCounter } from "./frame-counter.ts";
import type { ServerProcess } from "./server-process.ts";

export interface Room {
  publisher: FrameCounter;
  receivers: FrameCounter[];
}

/** Envelopes of 330 bytes with random ids, as clients send them. */
function envelope(): string {
  const text = JSON.stringify({
    protocol: "mcpx/v0.1",
    id: randomUUID(),
    ts: "2026-11-15T12:00:00.000Z",
    from: "bench-0",
    kind: "chat",
    payload: { text: "", format: "plain" },
  });
  return text.replace('"text":""', `"text":"${"x".repeat(330 - text.length)}"`);
}

export async function openRoom(server: ServerProcess, receivers: number): Promise<Room> {
  const publisher = await FrameCounter.connect(server.url, "bench-0", server.tokens[0]);
  const opened: FrameCounter[] = [];
  for (let i = 1; i <= receivers; i += 1) {
    opened.push(await FrameCounter.connect(server.url, "bench-0", server.tokens[i]));
  }
  // Welcomes and joins are still coming in; the count starts when it is quiet.
  let before = -1;
  for (let now = total(opened); now !== before; now = total(opened)) {
    before = now;
    await sleep(200);
  }
  for (const receiver of opened) receiver.count = 0;
  return { publisher, receivers: opened };
}

function total(receivers: readonly FrameCounter[]): number {
  return receivers.reduce((sum, { count }) => sum + count, 0);
}

export interface Saturation {
  envelopes: number;
  seconds: number;
}

/** Keeps `inFlight` envelopes under way for a while; one leaves flight when every receiver has it. */
export async function saturate(
  { publisher, receivers }: Room,
  inFlight: number,
  ms: number,
): Promise<Saturation> {
  const arrivals: number[] = [];
  let sent = 0;
  let done = 0;
  const began = performance.now();
  const until = began + ms;
  const finished = new Promise<void>((resolve) => {
    const more = () => {
      while (sent - done < inFlight && performance.now() < until) {
        publisher.send(envelope());
        sent += 1;
      }
      if (done === sent && performance.now() >= until) resolve();
    };
    for (const receiver of receivers) {
      const base = receiver.count;
      receiver.onFrame = (count) => {
        const index = count - base - 1;
        arrivals[index] = (arrivals[index] ?? 0) + 1;
        if (arrivals[index] === receivers.length) {
          done += 1;
          more();
        }
      };
    }
    more();
  });
  await finished;
  for (const receiver of receivers) receiver.onFrame = () => {};
  return { envelopes: done, seconds: (performance.now() - began) / 1000 };
}

/** Delivery latencies in ms at a steady rate. */
export async function latencies(
  { publisher, receivers }: Room,
  perSecond: number,
  seconds: number,
): Promise<number[]> {
  const sentAt: number[] = [];
  const seen: number[] = [];
  for (const receiver of receivers) {
    const base = receiver.count;
    receiver.onFrame = (count) => {
      const at = sentAt[count - base - 1];
      if (at !== undefined) seen.push(performance.now() - at);
    };
  }
  const total = perSecond * seconds;
  const began = performance.now();
  for (let i = 0; i < total; i += 1) {
    const due = began + (i * 1000) / perSecond;
    const wait = due - performance.now();
    if (wait > 0) await sleep(wait);
    sentAt.push(performance.now());
    publisher.send(envelope());
  }
  const expected = total * receivers.length;
  for (let tries = 0; seen.length < expected && tries < 100; tries += 1) await sleep(50);
  if (seen.length !== expected) throw new Error(`${seen.length} of ${expected} deliveries arrived`);
  for (const receiver of receivers) receiver.onFrame = () => {};
  return seen.sort((a, b) => a - b);
}

export function percentile(sorted: readonly number[], p: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor((sorted.length * p) / 100))] ?? Number.NaN;
}

export function closeRoom({ publisher, receivers }: Room): void {
  for (const { socket } of [publisher, ...receivers]) socket.destroy();
}

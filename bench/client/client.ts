// A tool call from one participant to another through a real gateway, beside the same echo over a direct WebSocket.
import { type ChildProcess, fork } from "node:child_process";
import { joinRoom } from "@mcpx/client";
import WebSocket from "ws";
import { percentile } from "../rooms/load.ts";
import { startServerProcess } from "../rooms/server-process.ts";
import { sized } from "../sizes.ts";

const warmUpCalls = sized(200, 5);
const measureMs = sized(4_000, 100);
const heapCalls = sized(10_000, 50);

type Call = (text: string) => Promise<unknown>;

interface Figures {
  callsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
}

export async function benchClient(note: (line: string) => void): Promise<Record<string, unknown>> {
  note("client: direct WebSocket pair");
  const direct = await throughPair();
  note("client: through a room");
  const room = await throughRoom(note);
  const ratio = (key: "inFlight1" | "inFlight64") => ({
    calls: round(room[key].callsPerSecond / direct[key].callsPerSecond),
    p50_above_direct_ms: round(room[key].p50Ms - direct[key].p50Ms),
  });
  return {
    call1: { room: room.inFlight1, direct: direct.inFlight1, ratio: ratio("inFlight1") },
    call64: { room: room.inFlight64, direct: direct.inFlight64, ratio: ratio("inFlight64") },
    heap: room.heap,
  };
}

async function throughPair() {
  const { child, url } = await startPeer(["direct"]);
  const ws = new WebSocket(url);
  await new Promise((resolve) => ws.once("open", resolve));
  const waiting = new Map<number, (result: unknown) => void>();
  let last = 0;
  ws.on("message", (data) => {
    const { id, result } = JSON.parse(String(data));
    waiting.get(id)?.(result);
    waiting.delete(id);
  });
  const call: Call = (text) =>
    new Promise((resolve) => {
      last += 1;
      waiting.set(last, resolve);
      const params = { name: "echo", arguments: { text } };
      ws.send(JSON.stringify({ jsonrpc: "2.0", id: last, method: "tools/call", params }));
    });
  const figures = { inFlight1: await measure(call, 1), inFlight64: await measure(call, 64) };
  ws.terminate();
  child.disconnect();
  return figures;
}

async function throughRoom(note: (line: string) => void) {
  const server = await startServerProcess("./our-server.ts", [2]);
  const [caller = "", called = ""] = server.tokens;
  const { child } = await startPeer(["room", server.url, called]);
  const room = await joinRoom({ url: server.url, topic: "bench-0", token: caller });
  const peer = room.peer("bench-1");
  const call: Call = (text) => peer.callTool("echo", { text });
  const figures = { inFlight1: await measure(call, 1), inFlight64: await measure(call, 64) };
  note(`client: ${heapCalls} calls, and the heap before and after`);
  const before = heapBytes();
  for (let i = 0; i < heapCalls; i += 50) await Promise.all(Array.from({ length: 50 }, () => call("x")));
  const heap = { beforeBytes: before, afterBytes: heapBytes() };
  await room.close();
  child.disconnect();
  await server.stop();
  return { ...figures, heap };
}

async function measure(call: Call, inFlight: number): Promise<Figures> {
  for (let i = 0; i < warmUpCalls; i += 1) await call("warm up");
  const took: number[] = [];
  const began = performance.now();
  await Promise.all(
    Array.from({ length: inFlight }, async () => {
      while (performance.now() - began < measureMs) {
        const start = performance.now();
        await call("hello");
        took.push(performance.now() - start);
      }
    }),
  );
  const seconds = (performance.now() - began) / 1000;
  took.sort((a, b) => a - b);
  return {
    callsPerSecond: Math.round(took.length / seconds),
    p50Ms: round(percentile(took, 50)),
    p99Ms: round(percentile(took, 99)),
  };
}

async function startPeer(args: string[]): Promise<{ child: ChildProcess; url: string }> {
  const execArgv = ["--conditions=mcpx-source"];
  const child = fork(new URL("./echo-peer.ts", import.meta.url), args, { execArgv });
  const { url } = await new Promise<{ url: string }>((resolve) => child.once("message", resolve as never));
  return { child, url };
}

function heapBytes(): number {
  globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}

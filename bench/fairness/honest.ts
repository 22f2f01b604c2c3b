// The honest people of a gateway, in a process of their own: a member who says something every 10 ms and waits for the
// acknowledgements, a guest who joins twice a second, a server that registered with a heartbeat of 1 s.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import WebSocket from "ws";
import { percentile } from "../rooms/load.ts";
import { type Registrant, register } from "./registrant.ts";
import type { Tokens } from "./scene.ts";
import { obey } from "./told.ts";

const everyMs = 10;
const joinEveryMs = 500;
/** Who has waited so long for an ack, or to be let in, waits no more. */
const patienceMs = 15_000;
const heartbeatMs = 1_000;

export interface Place {
  url: string;
  tokens: Tokens;
}

export interface Window {
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
  sent: number;
  /** Never acknowledged; counted with the time that was waited for them. */
  unacked: number;
  joins: { done: number; failed: Record<string, number>; p50Ms: number; maxMs: number };
  /** Close codes of the member and of the server, when they were shown out. */
  expelled: string[];
}

interface Member {
  socket: WebSocket;
  sentAt: Map<string, number>;
  waited: number[];
}

let place: Place;
let member: Member;
let server: Registrant;
/** Since it was told last: also what happened between two windows. */
const expelled: string[] = [];

obey({
  async open(given: Place) {
    place = given;
    member = await join();
    await serve();
  },
  measure,
});

function open(topic: string, token: string): WebSocket {
  return new WebSocket(`${place.url.replace("http", "ws")}/v0/ws?topic=${topic}`, {
    headers: { authorization: `Bearer ${token}` },
    perMessageDeflate: false,
  });
}

async function join(): Promise<Member> {
  const joined: Member = { socket: open("yard", place.tokens.victim), sentAt: new Map(), waited: [] };
  const { socket, sentAt, waited } = joined;
  socket.on("message", (data) => {
    const { payload } = JSON.parse(String(data));
    const at = payload.event === "ack" ? sentAt.get(payload.id) : undefined;
    if (at === undefined) return;
    sentAt.delete(payload.id);
    waited.push(performance.now() - at);
  });
  await Promise.race([welcome(socket), tooLate()]);
  socket.on("error", () => {});
  socket.on("close", (code) => expelled.push(`member ${code}`));
  return joined;
}

/** Rejects with the status or the error. */
function welcome(socket: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once("message", () => resolve());
    socket.once("unexpected-response", (_, { statusCode }) => reject(new Error(`HTTP ${statusCode}`)));
    socket.once("error", (error: NodeJS.ErrnoException) => reject(new Error(error.code ?? error.message)));
    socket.once("close", (code) => reject(new Error(`close ${code}`)));
  });
}

async function serve(): Promise<void> {
  const tools = JSON.stringify([
    { name: "look", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } },
  ]);
  const { url, tokens } = place;
  const registered = await register({ url, token: tokens.server, segment: "honest", tools, heartbeatMs });
  server = registered;
  const beat = setInterval(
    () =>
      registered.send({
        id: randomUUID(),
        method: "mcpax/heartbeat",
        params: { session_id: registered.sessionId },
      }),
    heartbeatMs / 2,
  );
  registered.socket.on("close", (code) => {
    clearInterval(beat);
    expelled.push(`server ${code}`);
    serve().catch((error: unknown) => expelled.push(`server not let in again: ${error}`));
  });
}

async function measure(ms: number): Promise<Window> {
  if (member.socket.readyState !== WebSocket.OPEN) member = await join();
  const { socket, sentAt, waited } = member;
  waited.length = 0;
  sentAt.clear();
  const joining = joinAgainAndAgain(ms);
  const began = performance.now();
  const total = Math.floor(ms / everyMs);
  for (let i = 0; i < total && socket.readyState === WebSocket.OPEN; i += 1) {
    const wait = began + i * everyMs - performance.now();
    if (wait > 1) await sleep(wait);
    const id = randomUUID();
    sentAt.set(id, performance.now());
    const payload = { text: "x".repeat(200) };
    socket.send(JSON.stringify({ protocol: "mcpx/v0.1", id, kind: "chat", payload }));
  }
  const joins = await joining;
  const until = performance.now() + patienceMs;
  while (sentAt.size > 0 && performance.now() < until && socket.readyState === WebSocket.OPEN) await sleep(5);
  await upToNow(server.socket);
  const unacked = [...sentAt.values()].map((at) => performance.now() - at);
  const all = [...waited, ...unacked].toSorted((a, b) => a - b);
  return {
    p50Ms: percentile(all, 50),
    p99Ms: percentile(all, 99),
    maxMs: all.at(-1) ?? Number.NaN,
    sent: all.length,
    unacked: unacked.length,
    joins,
    expelled: expelled.splice(0),
  };
}

/** A pong comes behind whatever the gateway said before, also behind a close. */
async function upToNow(socket: WebSocket): Promise<void> {
  if (socket.readyState !== WebSocket.OPEN) return;
  const enough = new AbortController();
  const heard = (event: string) => once(socket, event, { signal: enough.signal }).catch(() => {});
  socket.ping();
  await Promise.race([heard("pong"), heard("close"), sleep(patienceMs, undefined, { ref: false })]);
  enough.abort();
}

async function joinAgainAndAgain(ms: number): Promise<Window["joins"]> {
  const waited: number[] = [];
  const failed: Record<string, number> = {};
  const until = performance.now() + ms;
  while (performance.now() < until) {
    const began = performance.now();
    const socket = open("hall", place.tokens.guest);
    try {
      await Promise.race([welcome(socket), tooLate()]);
      waited.push(performance.now() - began);
    } catch (error) {
      const why = (error as Error).message;
      failed[why] = (failed[why] ?? 0) + 1;
    }
    socket.on("error", () => {});
    socket.terminate();
    await sleep(Math.max(0, began + joinEveryMs - performance.now()));
  }
  waited.sort((a, b) => a - b);
  return { done: waited.length, failed, p50Ms: percentile(waited, 50), maxMs: waited.at(-1) ?? Number.NaN };
}

async function tooLate(): Promise<never> {
  await sleep(patienceMs, undefined, { ref: false });
  throw new Error(`not let in within ${patienceMs / 1_000} s`);
}

// The ways in which a stranger makes a gateway keep something. Each gives the bytes that went over the wire for it, and
// leaves open what must stay open.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import WebSocket from "ws";
import type { Attack, Request, Target, Verb } from "../fairness/attacks/attack.ts";
import { hold } from "../fairness/attacks/holds.ts";
import { requestBytes } from "../fairness/attacks/request-bytes.ts";
import { modern } from "../fairness/attacks/rpc.ts";
import { Tally } from "../fairness/attacks/tally.ts";
import { type Registrant, register } from "../fairness/registrant.ts";
import { sized } from "../sizes.ts";

interface World {
  target: Target;
  /** Of somebody without a segment, who may register where the operator has said "development". */
  guestToken: string;
  signal: AbortSignal;
}

export type Keep = (world: World) => Promise<number>;

/** The kernel hands over what was sent a little later. */
const settleMs = sized(1_000, 100);
const patienceMs = 20_000;

function goingOf({ target, signal }: World, size: Pick<Attack, "bytes" | "concurrency">, as: Attack["as"]) {
  const verb: Verb = { way: "requests", request: { method: "GET", path: "/" } };
  return { target, signal, tally: new Tally(), attack: { name: "kept", verb, as, ...size } };
}

/** Connections that stay open, with a part of a request or an answer that nobody reads. */
export function held(
  verb: Verb & { way: "holds" },
  bytes: number,
  count: number,
  as: Attack["as"] = "token",
): Keep {
  return async (world) => {
    const going = goingOf(world, { bytes, concurrency: count }, as);
    await hold(verb, going);
    const until = performance.now() + patienceMs;
    while (going.tally.sent < count && performance.now() < until) await sleep(20);
    await sleep(settleMs);
    return going.tally.bytes;
  };
}

/** Requests of which nothing should be left but what the gateway has to keep. `{n}` in body and path is a number. */
export function asked(
  request: Request,
  bytes: number,
  count: number,
  { isWaitedFor = true, as = "token" as Attack["as"] } = {},
): Keep {
  return async (world) => {
    let wire = 0;
    const body = request.body?.(bytes);
    const answers: Promise<unknown>[] = [];
    for (let n = 0; n < count; n += 1) {
      const numbered: Request = { ...request, path: request.path.replace("{n}", String(n)) };
      if (body !== undefined) numbered.body = () => body.replace("{n}", String(n));
      const all = (await requestBytes(numbered, goingOf(world, { bytes, concurrency: 1 }, as)))(0);
      wire += all.length;
      answers.push(answerTo(world.target.url, all));
      if (isWaitedFor && answers.length % 16 === 0) await Promise.all(answers);
    }
    if (isWaitedFor) await Promise.all(answers);
    await sleep(settleMs);
    return wire;
  };
}

async function answerTo(url: string, request: Buffer): Promise<void> {
  const { connect } = await import("node:net");
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.on("error", () => {});
  socket.write(request);
  await once(socket, "data");
  socket.destroy();
}

interface Calls {
  request: Request;
  /** Of an argument. */
  bytes: number;
  count: number;
  /** Without it they are never answered. */
  resultBytes?: number;
}

/** A server that registers with this list, and the calls that are made of it, if any. */
export function registered(list: string, calls?: Calls): Keep {
  return async (world) => {
    const { url, token } = world.target;
    const { resultBytes } = calls ?? {};
    const result =
      resultBytes === undefined
        ? undefined
        : JSON.stringify([{ type: "text", text: "x".repeat(resultBytes) }]);
    const resultOf = () => result;
    const tools = list;
    const server = await register({ url, token, segment: "evil", tools, heartbeatMs: 0, resultOf });
    await server.listed;
    if (calls === undefined) {
      await sleep(settleMs);
      checkTaken(server);
      return list.length;
    }
    const { request, bytes, count } = calls;
    const sent = await asked(request, bytes, count, { isWaitedFor: false })(world);
    return sent + count * (result?.length ?? 0);
  };
}

/** A list that was refused costs nothing, and says nothing. */
function checkTaken({ socket }: Registrant): void {
  if (socket.readyState !== socket.OPEN)
    throw new Error("the gateway has not taken the list of a registered server");
}

/** Registers, leaves, and comes again with other tools: what is remembered of those that are gone. */
export function comeAndGone(listOf: (time: number) => string, count: number): Keep {
  return async ({ target }) => {
    let wire = 0;
    for (let time = 0; time < count; time += 1) {
      const tools = listOf(time);
      const { url, token } = target;
      const server = await register({ url, token, segment: "evil", tools, heartbeatMs: 0 });
      wire += tools.length;
      await server.listed;
      await sleep(settleMs / 2);
      checkTaken(server);
      const closed = once(server.socket, "close");
      server.send({ id: 1, method: "mcpax/deregister", params: { session_id: server.sessionId } });
      await closed;
    }
    await sleep(settleMs);
    return wire;
  };
}

/** Servers without tools, each under a segment that anybody may take. */
export function manyRegistered(count: number): Keep {
  return async ({ target: { url }, guestToken: token }) => {
    const all = Array.from({ length: count }, (_, i) =>
      register({ url, token, segment: `dev-${i}`, tools: "[]", heartbeatMs: 0 }),
    );
    await Promise.all(all);
    await sleep(settleMs);
    // The handshake, the registration, and what the registrant answers.
    const handshake = 200 + token.length;
    return count * (handshake + 400 + 400);
  };
}

/** Members, each in a room of its own, who say something and stay, or go. */
export function members(
  topicOf: (i: number) => string,
  says: (i: number) => object[],
  { count, stay = true }: { count: number; stay?: boolean },
): Keep {
  return async ({ target, signal }) => {
    let wire = 0;
    for (let i = 0; i < count; i += 1) {
      const socket = new WebSocket(
        `${target.url.replace("http", "ws")}/v0/ws?topic=${encodeURIComponent(topicOf(i))}`,
        { headers: { authorization: `Bearer ${target.token}` }, perMessageDeflate: false },
      );
      await once(socket, "message");
      wire += 200 + target.token.length;
      for (const { kind, payload } of says(i) as { kind: string; payload: object }[]) {
        const text = JSON.stringify({ protocol: "mcpx/v0.1", id: randomUUID(), kind, payload });
        wire += text.length + 8;
        socket.send(text);
        await once(socket, "message");
      }
      if (stay) signal.addEventListener("abort", () => socket.terminate());
      else socket.terminate();
    }
    await sleep(settleMs);
    return wire;
  };
}

/** A message on each connection that comes byte by byte and never ends. */
export function dripped(request: Request, behind: Buffer, count: number): Keep {
  return async (world) => {
    const { connect } = await import("node:net");
    const { hostname, port } = new URL(world.target.url);
    const bytesFor = await requestBytes(request, goingOf(world, { bytes: 0, concurrency: 1 }, "token"));
    let wire = 0;
    const all = Array.from({ length: count }, async (_, lane) => {
      const socket = connect(Number(port), hostname).setNoDelay(true);
      socket.on("error", () => {});
      world.signal.addEventListener("abort", () => socket.destroy());
      const head = bytesFor(lane);
      socket.write(head);
      wire += head.length;
      for (const byte of behind) {
        await sleep(1);
        socket.write(Buffer.from([byte]));
        wire += 1;
      }
    });
    await Promise.all(all);
    await sleep(settleMs);
    return wire;
  };
}

/** A call of a tool of the registered server, with an argument of the attack's size. */
export const callOf = (tool: string, fill: (bytes: number) => string): Request =>
  modern("tools/call", { name: `evil.${tool}`, arguments: { n: "{n}", x: "{fill}" } }, { fill });

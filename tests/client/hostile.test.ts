// Peers and gateways that misbehave. Nothing of it leaves the promises it concerns.
import { joinRoom, type Room } from "@mcpx/client";
import fc from "fast-check";
import { afterEach, beforeEach, expect, onTestFinished, test } from "vitest";
import { enter } from "../support/enter.ts";
import { type EvilGateway, startEvilGateway } from "./support/evil-gateway.ts";
import { join, nextEvent, rejection, seen, startHouse, textOf, topic } from "./support/house.ts";
import { kitchenV1 } from "./support/sdk-servers.ts";

const stray: unknown[] = [];
const onStray = (error: unknown) => void stray.push(error);
beforeEach(() => {
  process.on("uncaughtException", onStray);
  process.on("unhandledRejection", onStray);
});
afterEach(() => {
  process.off("uncaughtException", onStray);
  process.off("unhandledRejection", onStray);
  expect(stray.splice(0)).toEqual([]);
});

async function alone(): Promise<{ evil: EvilGateway; alice: Room }> {
  const evil = await startEvilGateway();
  const alice = await joinRoom({
    url: evil.url,
    topic,
    token: "t",
    callTimeoutMs: 2_000,
    backoff: { minMs: 1, maxMs: 5 },
  });
  onTestFinished(() => alice.close());
  return { evil, alice };
}

/** Answers alice's handshake with the oven; returns the next request that was sent to it. */
async function afterHandshake(evil: EvilGateway) {
  const sent = (method: string) => evil.received.find(({ payload }) => payload.method === method);
  await expect.poll(() => sent("initialize")).toBeDefined();
  const { id, payload } = sent("initialize");
  const result = { protocolVersion: "2025-06-18", capabilities: {}, serverInfo: { name: "x", version: "1" } };
  evil.say("oven", {
    to: ["alice"],
    kind: "mcp",
    correlation_id: id,
    payload: { jsonrpc: "2.0", id: payload.id, result },
  });
  await expect.poll(() => sent("tools/call")).toBeDefined();
  return sent("tools/call");
}

test("[X0-4.1-3] a response counts only from the one who was asked, for its envelope, with its very id", async () => {
  const { evil, alice } = await alone();
  const call = alice.peer("oven").callTool("echo", { text: "x" });
  const request = await afterHandshake(evil);
  const answer = (from: string, correlation_id: string | undefined, id: unknown, text: string) =>
    evil.say(from, {
      to: ["alice"],
      kind: "mcp",
      ...(correlation_id === undefined ? {} : { correlation_id }),
      payload: { jsonrpc: "2.0", id, result: { content: [{ type: "text", text }] } },
    });
  answer("mallory", request.id, request.payload.id, "forged");
  answer("oven", request.id, String(request.payload.id), "another id type");
  answer("oven", request.id, request.payload.id + 1, "another id");
  answer("oven", "another-envelope", request.payload.id, "another envelope");
  answer("oven", undefined, request.payload.id, "no envelope");
  answer("oven", request.id, null, "no id");
  answer("oven", request.id, request.payload.id, "true");
  answer("oven", request.id, request.payload.id, "duplicate");
  expect(textOf(await call)).toBe("true");
  answer("oven", request.id, request.payload.id, "late");
  const heard = nextEvent(alice, "chat");
  evil.say("oven", { kind: "chat", payload: { text: "still here" } });
  await heard;
});

test("malformed answers reject the call they answer, and nothing else", async () => {
  const { evil, alice } = await alone();
  for (const body of [
    { result: "text" },
    { result: [1] },
    { error: "no" },
    { error: {} },
    { error: { code: "x", message: 7 } },
    {},
  ]) {
    evil.received.length = 0;
    const call = rejection(alice.peer("oven").request("ping", {}));
    if (evil.addresses.length === 1) await Promise.race([call, answerHandshake(evil)]);
    await expect.poll(() => evil.received.find(({ payload }) => payload.method === "ping")).toBeDefined();
    const { id, payload } = evil.received.find(({ payload }) => payload.method === "ping");
    evil.say("oven", {
      kind: "mcp",
      correlation_id: id,
      payload: { jsonrpc: "2.0", id: payload.id, ...body },
    });
    expect(await call).toBeInstanceOf(Error);
  }
  expect(alice.state).toBe("live");
});

async function answerHandshake(evil: EvilGateway): Promise<void> {
  const sent = () =>
    evil.received.find(({ payload }) => payload.method === "initialize" || payload.method === "ping");
  await expect.poll(sent).toBeDefined();
  const { id, payload } = sent();
  if (payload.method === "ping") return;
  const result = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: {} };
  evil.say("oven", { kind: "mcp", correlation_id: id, payload: { jsonrpc: "2.0", id: payload.id, result } });
}

test("[X0-4.1-9] a peer that answers the handshake with a revision that has none is not spoken to", async () => {
  const { evil, alice } = await alone();
  const call = rejection(alice.peer("oven").listTools());
  await expect.poll(() => evil.received.length).toBe(1);
  const [{ id, payload }] = evil.received;
  expect(payload.params.protocolVersion).toBe("2025-11-25");
  const result = { protocolVersion: "2026-07-28", capabilities: {}, serverInfo: {} };
  evil.say("oven", { kind: "mcp", correlation_id: id, payload: { jsonrpc: "2.0", id: payload.id, result } });
  expect(await call).toMatchObject({ reason: "bad_answer" });
});

test("what is no envelope is dropped with an error event, whatever it is", async () => {
  const { evil, alice } = await alone();
  let errors = 0;
  alice.addEventListener("error", () => {
    errors += 1;
  });
  const frames = [
    "",
    "null",
    "[]",
    "{}",
    "{",
    '"x"',
    '{"protocol":"mcpx/v0.1"}',
    "\u0000",
    "[".repeat(10_000),
  ];
  for (const frame of frames) evil.sendText(frame);
  evil.sendText(Buffer.from([1, 2, 3]));
  const heard = nextEvent(alice, "chat");
  evil.say("oven", { kind: "chat", payload: { text: "hello" } });
  await heard;
  expect(errors).toBe(frames.length);
});

test("anything that looks like an envelope is survived", { timeout: 60_000 }, async () => {
  const { evil, alice } = await alone();
  await alice.serve(kitchenV1().server);
  const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<unknown>;
  const word = fc.constantFrom(
    "welcome",
    "ack",
    "error",
    "join",
    "leave",
    "privilege_changed",
    "draining",
    "x",
  );
  const method = fc.constantFrom(
    "initialize", "tools/call", "tools/list", "notifications/cancelled", "notifications/progress",
    "notifications/chat/message", "ping", "sampling/createMessage", "\u0000",
  ); // biome-ignore format: one line reads best
  const payload = fc.oneof(
    fc.dictionary(fc.string(), json),
    fc.record({ event: word, participant: json, id: json, seq: json, new: json, data: json, history: json }),
    fc.record({ jsonrpc: fc.constant("2.0"), id: json, method, params: json }, { requiredKeys: ["jsonrpc"] }),
    fc.record({ jsonrpc: fc.constant("2.0"), id: json, result: json, error: json }, { requiredKeys: ["id"] }),
    fc.record({ method, params: json, ttl_ms: json, reason: json, status: json, proposals: json }),
  );
  const envelope = fc.record(
    {
      kind: fc.constantFrom(
        "mcp", "chat", "system", "presence", "mcp/proposal", "mcpx.reject.proposal", "mcpx.withdraw.proposal",
        "mcpx.status.proposal", "mcp/request:tools/call", "odd",
      ), // biome-ignore format: one line reads best
      payload,
      to: fc.oneof(fc.constant(["alice"]), fc.constant([]), json),
      correlation_id: fc.oneof(fc.constant("e1"), json),
      protocol: fc.constantFrom("mcpx/v0.1", "mcp-x/v0"),
    },
    { requiredKeys: ["kind", "payload"] },
  );
  const from = fc.constantFrom("oven", "mallory", "system:gateway", "alice");
  await fc.assert(
    fc.asyncProperty(from, envelope, async (who, what) => {
      if (who === "system:gateway") evil.send({ protocol: "mcpx/v0.1", id: "g", from: who, ...what });
      else evil.say(who, what);
    }),
    { numRuns: 2_000 },
  );
  const heard: string[] = [];
  alice.addEventListener("chat", ({ detail }) => heard.push(detail.text));
  // Lies have moved the position; the next number after it is believed.
  const saySo = () => {
    const seq = Number(alice.position.split(":")[1]) + 1;
    evil.say("oven", { kind: "chat", payload: { text: "the end" } }, seq);
    return heard.at(-1);
  };
  await expect.poll(saySo, { timeout: 10_000 }).toBe("the end");
});

test("a number that comes twice is heard once; a hole is filled by resuming", async () => {
  const { evil, alice } = await alone();
  const heard: unknown[] = [];
  alice.addEventListener("chat", ({ detail }) => heard.push(detail.text));
  const say = (text: string, seq: number) => evil.say("oven", { kind: "chat", payload: { text } }, seq);
  say("one", 1);
  say("one again", 1);
  say("two", 2);
  say("four", 4);
  await expect.poll(() => evil.addresses.length).toBe(2);
  expect(evil.addresses[1]?.searchParams.get("resume")).toBe("ep:2");
  await expect.poll(() => alice.state).toBe("live");
  say("three", 3);
  say("four", 4);
  await expect.poll(() => heard).toEqual(["one", "two", "three", "four"]);
});

test("a peer that never answers is given up after the timeout, and told so", async () => {
  const house = await startHouse();
  const mute = await enter(house, "mute", { topic });
  const alice = await join(house, "alice");
  await seen(alice, "mute");
  const shake = await rejection(alice.peer("mute").callTool("x", {}, { timeoutMs: 50 }));
  expect(shake).toMatchObject({ reason: "timeout" });
  const initialize = await mute.find(({ payload }) => payload.method === "initialize");
  const result = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: {} };
  mute.send({
    kind: "mcp",
    to: ["alice"],
    correlation_id: initialize.id,
    payload: { jsonrpc: "2.0", id: initialize.payload.id, result },
  });
  await alice.peer("mute").introduction();
  const call = await rejection(alice.peer("mute").callTool("x", {}, { timeoutMs: 50 }));
  expect(call).toMatchObject({ reason: "timeout" });
  const request = await mute.find(({ payload }) => payload.method === "tools/call");
  const cancelled = await mute.find(({ payload }) => payload.method === "notifications/cancelled");
  expect(cancelled.payload.params.requestId).toBe(request.payload.id);
  await mute.leave();
});

test("a peer that leaves in the middle of a call fails it after the grace", async () => {
  const house = await startHouse();
  const oven = await join(house, "oven");
  const { server, waiting } = kitchenV1();
  await oven.serve(server);
  const alice = await join(house, "alice", { peerGraceMs: 30 });
  const call = rejection(alice.peer("oven").callTool("wait"));
  await waiting;
  await oven.close();
  expect(await call).toMatchObject({ reason: "peer_left" });
});

test("a flood of progress reaches its caller only, and the answer still comes", async () => {
  const { evil, alice } = await alone();
  let heard = 0;
  const onProgress = () => {
    heard += 1;
    throw new Error("a listener's fault is its own");
  };
  const call = alice.peer("oven").callTool("echo", { text: "x" }, { onProgress });
  const request = await afterHandshake(evil);
  const { progressToken } = request.payload.params._meta;
  const progress = (from: string, token: unknown, value: unknown) =>
    evil.say(from, {
      kind: "mcp",
      to: ["alice"],
      payload: {
        jsonrpc: "2.0",
        method: "notifications/progress",
        params: { progressToken: token, progress: value },
      },
    });
  for (let i = 0; i < 5_000; i += 1) progress("oven", progressToken, i);
  progress("mallory", progressToken, 1);
  progress("oven", String(progressToken), 1);
  progress("oven", progressToken, "much");
  const payload = { jsonrpc: "2.0", id: request.payload.id, result: { content: [] } };
  evil.say("oven", { kind: "mcp", to: ["alice"], correlation_id: request.id, payload });
  await call;
  expect(heard).toBe(5_000);
});

test("calls and open requests are bounded", async () => {
  const house = await startHouse();
  const oven = await join(house, "oven");
  const { server, waiting } = kitchenV1();
  await oven.serve(server);
  const alice = await join(house, "alice", { callsMax: 2 });
  await alice.peer("oven").introduction();
  const abort = new AbortController();
  const one = rejection(alice.peer("oven").callTool("wait", {}, { signal: abort.signal }));
  const two = rejection(alice.peer("oven").callTool("wait", {}, { signal: abort.signal }));
  await waiting;
  expect(await rejection(alice.peer("oven").callTool("wait"))).toMatchObject({ reason: "too_many_calls" });
  abort.abort(new Error("enough"));
  await Promise.all([one, two]);
});

test("a hostile client cannot break what is served: ids of any type, cancels of others, nonsense", async () => {
  const house = await startHouse();
  const oven = await join(house, "oven");
  const { server, waiting, done, release } = kitchenV1();
  await oven.serve(server);
  const alice = await join(house, "alice");
  const call = alice.peer("oven").callTool("wait");
  await waiting;
  const mallory = await enter(house, "mallory", { topic });
  const send = (payload: object) =>
    mallory.send({ kind: "mcp", to: ["oven"], payload: { jsonrpc: "2.0", ...payload } });
  for (let requestId = 0; requestId < 10; requestId += 1) {
    send({ method: "notifications/cancelled", params: { requestId } });
  }
  const params = { protocolVersion: "1999-01-01", capabilities: {}, clientInfo: { name: "m", version: "0" } };
  send({ id: "a", method: "initialize", params });
  const hello = await mallory.find(({ from }) => from === "oven");
  expect(hello.payload).toMatchObject({ id: "a", result: { protocolVersion: "2025-11-25" } });
  const outcome = async (payload: object) => {
    const id = send(payload);
    return (await mallory.find(({ correlation_id, from }) => from === "oven" && correlation_id === id))
      .payload;
  };
  expect(await outcome({ id: 1.5, method: "tools/call", params: { name: 7 } })).toMatchObject({
    id: 1.5,
    error: {},
  });
  expect(await outcome({ id: "1", method: "tools/list" })).toMatchObject({ id: "1", result: {} });
  expect(await outcome({ id: 1, method: "logging/setLevel", params: { level: "debug" } })).toMatchObject({
    error: { code: -32601 },
  });
  expect(await outcome({ id: 2, method: "initialize", params: { nonsense: true } })).toMatchObject({ id: 2 });
  release();
  expect(textOf(await call)).toBe("waited");
  expect(done).toEqual(["wait ended"]);
  await mallory.leave();
});

/** A kitchen for each peer: how many there were, and are. */
async function serveCounted(oven: Awaited<ReturnType<typeof join>>): Promise<{ made: number; open: number }> {
  const kitchens = { made: 0, open: 0 };
  await oven.serve(() => {
    kitchens.made += 1;
    kitchens.open += 1;
    const { server } = kitchenV1();
    server.server.onclose = () => {
      kitchens.open -= 1;
    };
    return server;
  });
  return kitchens;
}

test("one peer's open requests never keep a server from the others, however it begins anew", async () => {
  const house = await startHouse();
  const oven = await join(house, "oven");
  const kitchens = await serveCounted(oven);
  const mallory = await enter(house, "mallory", { topic });
  const send = (payload: object) =>
    mallory.send({ kind: "mcp", to: ["oven"], payload: { jsonrpc: "2.0", ...payload } });
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "m", version: "0" } };
  for (let i = 0; i < 700; i += 1) {
    send({ id: `i${i}`, method: "initialize", params });
    send({ id: `w${i}`, method: "tools/call", params: { name: "wait" } });
  }
  await expect.poll(() => kitchens.made, { timeout: 10_000 }).toBe(700);
  const alice = await join(house, "alice");
  expect(textOf(await alice.peer("oven").callTool("echo", { text: "still" }))).toBe("still");
  expect(kitchens.open).toBeLessThanOrEqual(512);
  await mallory.leave();
});

test("an introduction that a server refuses leaves nothing of it behind", async () => {
  const house = await startHouse();
  const oven = await join(house, "oven");
  const kitchens = await serveCounted(oven);
  const alice = await join(house, "alice");
  expect(textOf(await alice.peer("oven").callTool("echo", { text: "before" }))).toBe("before");
  const mallory = await enter(house, "mallory", { topic });
  for (let id = 0; id < 20; id += 1) {
    const payload = { jsonrpc: "2.0", id, method: "initialize", params: { nonsense: true } };
    mallory.send({ kind: "mcp", to: ["oven"], payload });
  }
  await expect.poll(() => ({ ...kitchens })).toEqual({ made: 21, open: 1 });
  expect(textOf(await alice.peer("oven").callTool("echo", { text: "still" }))).toBe("still");
  await mallory.leave();
});

test("a shared server answers others when one peer has all it may have open", async () => {
  const house = await startHouse();
  const oven = await join(house, "oven");
  await oven.serve(kitchenV1().server);
  const greedy = await join(house, "greedy");
  await greedy.peer("oven").introduction();
  const outcomes: unknown[] = [];
  for (let i = 0; i < 300; i += 1) {
    greedy
      .peer("oven")
      .callTool("wait")
      .catch((error) => outcomes.push(error.code));
  }
  await expect.poll(() => outcomes.length).toBe(44);
  expect(new Set(outcomes)).toEqual(new Set([42901]));
  const alice = await join(house, "alice");
  expect(textOf(await alice.peer("oven").callTool("echo", { text: "still" }))).toBe("still");
});

// Registrants no honest program is: what they send, what they claim, whom they pretend to be. A case is a line.
import { randomUUID } from "node:crypto";
import { afterAll, expect, test } from "vitest";
import {
  type Message,
  type RawRegistrant,
  rawRegistrant,
  registrationOf,
  toolOf,
} from "../tree/registration/support/raw-registrant.ts";
import { canary } from "./oracle.ts";
import { startTreeOracle } from "./tree-oracle.ts"; // biome-ignore format: one line each

const scene = await startTreeOracle();
afterAll(() => scene.stop());

const reasonOf = ({ error }: Message): string | undefined => error?.data?.reason;
const say = ({ socket }: RawRegistrant, message: object) =>
  socket.send(JSON.stringify({ jsonrpc: "2.0", ...message }));

let count = 0;
/** Each case has a segment of its own. */
function newSegment(): string {
  count += 1;
  return `evil-${count}`;
}

const deep = (depth: number) => `${"[".repeat(depth)}${"]".repeat(depth)}`;
const request = (method: string, params = "{}") =>
  `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`;

const frames: [title: string, frame: string | Buffer, code?: number][] = [
  ["nothing", ""],
  ["no JSON", "{"],
  ["JSON and more", `${request("mcpax/heartbeat")}x`],
  ["an array", "[]"],
  ["a batch", `[${request("mcpax/heartbeat")},${request("mcpax/heartbeat")}]`],
  ["a number", "1"],
  ["null", "null"],
  ["a text", '"mcpax/register"'],
  ["nested 200 deep", request("mcpax/heartbeat", `{"x":${deep(200)}}`)],
  ["nested a million deep", request("mcpax/heartbeat", `{"x":${deep(1_000_000)}}`)],
  ["a binary frame", Buffer.from(request("mcpax/heartbeat"))],
  ["an empty binary frame", Buffer.alloc(0)],
  ["5 MB of text", request("mcpax/heartbeat", `{"x":"${"x".repeat(5_000_000)}"}`), 1009],
  ["5 MB of bytes", Buffer.alloc(5_000_000), 1009],
]; // biome-ignore format: a table

test.for(frames)("[AX-6.1-3] before it registers, it is no message: %s", async ([, frame, code = 4400]) => {
  const attacker = await scene.stranger();
  attacker.socket.send(frame);
  expect((await attacker.closed).code).toBe(code);
  await scene.check({});
});

test.for(frames)(
  "[AX-6.1-3] of one that registered, it is no message: %s",
  async ([, frame, code = 4400]) => {
    const segment = newSegment();
    const attacker = await scene.member(segment, { tools: [toolOf("t")] });
    await expect.poll(() => scene.named(segment)).toEqual([`${segment}.t`]);
    attacker.socket.send(frame);
    expect((await attacker.closed).code).toBe(code);
    await expect.poll(() => scene.named(segment)).toEqual([]);
    await scene.check({});
  },
);

test("what comes behind a frame that is none is not read", async () => {
  const attacker = await scene.stranger();
  const segment = newSegment();
  attacker.socket.send("{");
  for (let i = 0; i < 100; i += 1) say(attacker, { id: i, method: "mcpax/register", params: registrationOf(segment) });
  expect((await attacker.closed).code).toBe(4400);
  expect(await scene.named(segment)).toEqual([]);
  await scene.check({});
}); // biome-ignore format: one loop

test("[B-FAIR-2] a message in more frames than anybody needs is not gathered; control: one in a thousand is read", async () => {
  const inFrames = async (count: number) => {
    const attacker = await scene.stranger();
    const text = request("mcpax/heartbeat").padEnd(count, " ");
    for (let i = 0; i < count - 1; i += 1) attacker.socket.send(text[i] as string, { fin: false });
    attacker.socket.send(text.slice(count - 1));
    return await attacker.closed;
  };
  expect(await inFrames(1_000)).toEqual({ code: 4403, reason: "registration_unknown" });
  expect((await inFrames(5_000)).code).toBe(1008);
  await scene.check({ denials: ["registration_unknown"] });
});

const firsts: [title: string, message: object, reason: string][] = [
  ["a heartbeat", { method: "mcpax/heartbeat", params: { session_id: scene.sessionId } }, "registration_unknown"],
  ["a deregistration", { method: "mcpax/deregister", params: { session_id: scene.sessionId } }, "registration_unknown"],
  ["an update", { method: "mcpax/update", params: { session_id: scene.sessionId } }, "registration_unknown"],
  ["a request of MCP", { method: "tools/list" }, "unknown_method"],
  ["a question only we ask", { method: "mcpax/parent" }, "unknown_method"],
  ["a method of 1 MB", { method: `${canary}${"m".repeat(1_000_000)}` }, "unknown_method"],
  ["a method of a prototype", { method: "__proto__" }, "unknown_method"],
  ["an empty registration", { method: "mcpax/register" }, "bad_params"],
  ["a registration that is an array", { method: "mcpax/register", params: [] }, "bad_params"],
]; // biome-ignore format: a table

test.for(firsts)("[AX-6.1-2] what comes first and registers nobody is shown out: %s", async ([, message, reason]) => {
  const attacker = await scene.stranger();
  const heard = new Promise<Message>((resolve) => attacker.socket.once("message", (data) => resolve(String(data))));
  say(attacker, { id: 1, ...message });
  expect(await attacker.closed).toEqual({ code: 4403, reason });
  expect((await heard).length).toBeLessThan(1_000);
  await scene.check({ denials: [reason] });
}); // biome-ignore format: one promise

test("10 000 requests before it registers are one denial", async () => {
  const attacker = await scene.stranger();
  for (let id = 0; id < 10_000; id += 1) say(attacker, { id, method: "tools/list" });
  expect((await attacker.closed).code).toBe(4403);
  await scene.check({ denials: ["unknown_method"] });
});

const noise: [title: string, message: object][] = [
  ["a notification", { method: "notifications/tools/list_changed" }],
  ["a notification of another", { method: "notifications/x", params: { _meta: { "x-mcpax-route": ["honest"] } } }],
  ["a notification with the name of a request", { method: "mcpax/deregister", params: { session_id: scene.sessionId } }],
  ["an answer nobody asked for", { id: 7, result: {} }],
  ["an answer with a text as id", { id: "mcpax-1", result: { tools: [] } }],
  ["an answer about its parent, unasked", { id: "mcpax-parent", result: { parent_id: randomUUID() } }],
  ["an error nobody asked for", { id: 7, error: { code: -32_601, message: canary } }],
  ["an error without id", { id: null, error: { code: 1, message: "x" } }],
  ["an answer of 3 MB", { id: 7, result: { x: "x".repeat(3_000_000) } }],
  ["an id that is an object", { id: { a: 1 }, method: "mcpax/heartbeat" }],
  ["an id that is no whole number", { id: 1.5, method: "mcpax/heartbeat" }],
  ["an id of 1 MB", { id: "i".repeat(1_000_000), method: "mcpax/heartbeat" }],
  ["a method that is a number", { id: 1, method: 7 }],
  ["a method that is an object", { id: 1, method: { toString: "x" } }],
  ["method and result", { id: 7, method: "notifications/x", result: {} }],
  ["nothing at all", {}],
]; // biome-ignore format: a table

test.for(noise)("[AX-6.1-1] before it registers it changes nothing: %s", async ([, message]) => {
  const segment = newSegment();
  const attacker = await scene.stranger({}, { segment });
  const isAnswered = "method" in message && (message as Message).result !== undefined;
  say(attacker, message);
  if (isAnswered) {
    expect((await attacker.closed).code).toBe(4403);
    await scene.check({ denials: ["unknown_method"] });
    return;
  }
  const { result } = await attacker.register(registrationOf(segment));
  expect(result.status).toBe("registered");
  await scene.check({});
  attacker.cut();
});

test.for(noise)("[AX-6.1-1] of one that registered it changes nothing: %s", async ([, message]) => {
  const segment = newSegment();
  const attacker = await scene.member(segment, { tools: [toolOf("t")] });
  await expect.poll(() => scene.named(segment)).toEqual([`${segment}.t`]);
  say(attacker, message);
  const { session } = attacker;
  expect((await attacker.request("mcpax/heartbeat", { session_id: session })).result).toEqual({ status: "alive" });
  expect(await scene.named(segment)).toEqual([`${segment}.t`]);
  await scene.check({});
  attacker.cut();
}); // biome-ignore format: one line each

const parents: [title: string, parentId: unknown][] = [
  ["a number", 7],
  ["an object", { toString: "x" }],
  ["true", true],
  ["no UUID", "elsewhere"],
  ["3 MB", `${canary}${"x".repeat(3_000_000)}`],
];

test.for(parents)("[AX-13.4-2] a parent that is no id is none, and that is on record: %s", async ([, parentId]) => {
  const segment = newSegment();
  const attacker = await scene.stranger({ parentId }, { segment });
  expect((await attacker.register(registrationOf(segment))).result.status).toBe("registered");
  await scene.check({ denials: ["parent_unknown"] });
  attacker.cut();
}); // biome-ignore format: one line each

test("[AX-6.1-1] whoever registers again on the same connection is told so, and stays who it is", async () => {
  const segment = newSegment();
  const attacker = await scene.member(segment, { tools: [toolOf("t")] });
  expect(reasonOf(await attacker.register(registrationOf("honest")))).toBe("bad_request");
  await expect.poll(() => scene.named(segment)).toEqual([`${segment}.t`]);
  await scene.check({});
  attacker.cut();
});

test("[AX-6.1-1] of two registrations at once on one connection the first counts", async () => {
  const [one, other] = [newSegment(), newSegment()];
  const attacker = await scene.stranger({ tools: [toolOf("t")] }, { segment: one });
  const answers = await Promise.all(
    [one, other].map((segment) => attacker.register(registrationOf(segment))),
  );
  expect(answers).toMatchObject([
    { result: { assigned_segment: one } },
    { error: { data: { reason: "bad_request" } } },
  ]);
  await expect.poll(() => scene.named(one)).toHaveLength(1);
  expect(await scene.named(other)).toEqual([]);
  await scene.check({ denials: [] });
});

const { sessionId, aggregatorId } = scene;
const orders: [title: string, method: string, params: object, reason: string][] = [
  ["a heartbeat for another", "mcpax/heartbeat", { session_id: sessionId }, "registration_unknown"],
  ["another's deregistration", "mcpax/deregister", { session_id: sessionId }, "registration_unknown"],
  ["another's subtree", "mcpax/update", { session_id: sessionId, "x-mcpax-subtree-ids": [randomUUID()] }, "registration_unknown"],
  ["no session", "mcpax/deregister", {}, "registration_unknown"],
  ["a session in an array", "mcpax/deregister", { session_id: [sessionId] }, "registration_unknown"],
  ["a session of 1 MB", "mcpax/deregister", { session_id: "s".repeat(1_000_000) }, "registration_unknown"],
  ["an unknown method of ours", "mcpax/reboot", {}, "unknown_method"],
  ["a method of 1 MB", "m".repeat(1_000_000), {}, "unknown_method"],
]; // biome-ignore format: a table

test.for(orders)("[AX-6.3-3] it is refused and changes nothing: %s", async ([, method, params, reason]) => {
  const attacker = await scene.member(newSegment());
  const answer = await attacker.request(method, params);
  expect(reasonOf(answer)).toBe(reason);
  expect(JSON.stringify(answer).length).toBeLessThan(1_000);
  const { session } = attacker;
  expect((await attacker.request("mcpax/heartbeat", { session_id: session })).result.status).toBe("alive");
  await scene.check({});
  attacker.cut();
});

test("a session in a prototype is none", async () => {
  const attacker = await scene.member(newSegment());
  const heard = new Promise<Message>((resolve) => attacker.socket.once("message", (data) => resolve(JSON.parse(String(data)))));
  attacker.socket.send(request("mcpax/deregister", `{"__proto__":{"session_id":"${attacker.session}"}}`));
  expect(reasonOf(await heard)).toBe("registration_unknown");
  await scene.check({});
  attacker.cut();
}); // biome-ignore format: one promise

const ids = "x-mcpax-subtree-ids";
const uuids = (length: number) => Array.from({ length }, () => randomUUID());
const far = "a.".repeat(126);

const registrations: [title: string, more: object, reason: string][] = [
  ["a segment in capitals", { segment: "Honest" }, "bad_params"],
  ["a segment with a dot", { segment: "honest.t" }, "bad_params"],
  ["a segment with a dot behind it", { segment: "honest." }, "bad_params"],
  ["a segment of nothing", { segment: "" }, "bad_params"],
  ["a segment of 64 characters", { segment: "a".repeat(64) }, "bad_params"],
  ["a segment of 1 MB", { segment: "a".repeat(1_000_000) }, "bad_params"],
  ["a segment with a Cyrillic o", { segment: "h\u043enest" }, "bad_params"],
  ["a segment in full width", { segment: "\uff48onest" }, "bad_params"],
  ["a segment with a joiner", { segment: "honest\u200d" }, "bad_params"],
  ["a segment with a line end", { segment: "honest\n" }, "bad_params"],
  ["a segment with a space", { segment: " honest" }, "bad_params"],
  ["a segment in an array", { segment: ["honest"] }, "bad_params"],
  ["another's segment", { segment: "honest" }, "namespace_conflict"],
  ["the tree's own segment", { segment: "mcpax" }, "namespace_conflict"],
  ["an authority in capitals", { authority: "DNS:edge.example.com" }, "bad_params"],
  ["an authority without dns:", { authority: "edge.example.com" }, "bad_params"],
  ["an authority with a Cyrillic e", { authority: "dns:\u0435dge.example.com" }, "bad_params"],
  ["an authority with a full stop of another script", { authority: "dns:edge\u3002example.com" }, "bad_params"],
  ["an authority with a dot behind it", { authority: "dns:edge.example.com." }, "bad_params"],
  ["an authority with a line end", { authority: "dns:edge.example.com\n" }, "bad_params"],
  ["an authority with a star", { authority: "dns:*.example.com" }, "bad_params"],
  ["an authority with two dots", { authority: "dns:edge..com" }, "bad_params"],
  ["an authority of nothing", { authority: "dns:" }, "bad_params"],
  ["an authority of 255 characters", { authority: `dns:${far}com` }, "bad_params"],
  ["an authority of 1 MB", { authority: `dns:${"a.".repeat(500_000)}a` }, "bad_params"],
  ["a proof that is none", { authority: "dns:edge.example.com", authority_proof: canary }, "authority_unproven"],
  ["a proof of nothing", { authority_proof: "a.b.c" }, "authority_unproven"],
  ["a proof of 1 MB", { authority: "dns:edge.example.com", authority_proof: "p".repeat(1_000_000) }, "bad_params"],
  ["a proof that is an object", { authority: "dns:edge.example.com", authority_proof: {} }, "bad_params"],
  ["subtree ids that are none", { [ids]: ["me"] }, "bad_params"],
  ["subtree ids of nobody", { [ids]: [] }, "bad_params"],
  ["5 000 subtree ids", { [ids]: uuids(5_000) }, "bad_params"],
  ["40 000 subtree ids", { [ids]: uuids(40_000) }, "bad_params"],
  ["subtree ids with ours", { [ids]: [randomUUID(), aggregatorId] }, "registration_cycle"],
  ["subtree ids with ours in capitals", { [ids]: [aggregatorId.toUpperCase()] }, "registration_cycle"],
  ["our own id", { subserver_id: aggregatorId }, "registration_cycle"],
  ["an id that is none", { subserver_id: canary }, "bad_params"],
  ["heartbeats in the past", { heartbeat_interval_ms: -1 }, "bad_params"],
  ["heartbeats for ever", { heartbeat_interval_ms: "1e400" }, "bad_params"],
  ["capabilities of a prototype", { capabilities: null }, "bad_params"],
  ["another version", { version: "2026-05-01 " }, "bad_params"],
]; // biome-ignore format: a table

test.for(registrations)("[AX-6.1-2] [AX-10.3-1] nobody registers with %s", async ([, more, reason]) => {
  const { segment = newSegment() } = more as { segment?: unknown };
  // With a token for that segment, where there can be one: it is not for want of a token that it is refused.
  const isOne = typeof segment === "string" && /^[a-z0-9_-]{1,63}$/.test(segment);
  const attacker = await scene.stranger({}, isOne ? { segment } : {});
  const answer = await attacker.register(registrationOf(String(segment), more));
  expect(reasonOf(answer)).toBe(reason);
  expect(JSON.stringify(answer).length).toBeLessThan(1_000);
  expect(await attacker.closed).toEqual({ code: 4403, reason });
  await scene.check({ denials: [reason] });
});

test.for(["__proto__", "constructor", "toString", "-", "_", "a".repeat(63)].map((one) => one.toLowerCase()))(
  "an odd segment is one like any other: %s",
  async (segment) => {
    const attacker = await scene.member(segment, { tools: [toolOf("t")] });
    await expect.poll(() => scene.named(segment)).toEqual([`${segment}.t`]);
    await scene.check({});
    attacker.cut();
  },
);

test("[AX-4.2-5] proofs: used before, for another tree, for another name, too long", async () => {
  const { identity } = scene.oracle.server;
  const mint = async (name: string, audience: string) =>
    scene.oracle.hide((await identity.mintAuthorityProof({ name, audience, ttlMs: 60_000 })).token);
  const name = "edge.example.com";
  const good = await mint(name, aggregatorId);
  const come = async (proof: string, authority = `dns:${name}`) => {
    const attacker = await scene.stranger();
    const answer = await attacker.register(registrationOf("named", { authority, authority_proof: proof }));
    attacker.cut();
    return answer.result?.status ?? reasonOf(answer);
  };
  expect(await come(good)).toBe("registered");
  await scene.check({});
  const refused = [
    good,
    `${good} `,
    await mint(name, randomUUID()),
    await mint("example.com", aggregatorId),
    await mint("edge.example.org", aggregatorId),
    await scene.oracle.token(),
  ];
  for (const proof of refused) {
    expect(await come(proof)).toBe("authority_unproven");
    await scene.check({ denials: ["authority_unproven"] });
  }
}); // biome-ignore format: one line each

test("control: the oracle sees who speaks in another's name", async () => {
  const { server } = scene.oracle;
  const token = await server.token({
    sub: "mallory",
    topics: [],
    segment: "honest",
    scope: "write",
  } as never);
  const thief = await rawRegistrant(server.url, token, { parentId: null, tools: [toolOf("t"), toolOf("u")] });
  const { result } = await thief.register(registrationOf("honest", { subserver_id: scene.subserverId }));
  expect(result.status).toBe("registered");
  await expect.poll(() => scene.named("honest")).toEqual(["honest.t", "honest.u"]);
  await expect(scene.check({})).rejects.toThrow("honest lists [honest.t,honest.u]");
  thief.cut();
});

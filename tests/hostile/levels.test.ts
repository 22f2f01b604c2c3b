// Attempts to do more than one's level allows. A case is what a restricted participant sends.
import { afterAll, describe, expect, test } from "vitest";
import { enter, enterWith } from "../support/enter.ts";
import type { Seen, TestClient } from "../support/test-client.ts";
import { canary, Oracle } from "./oracle.ts";

const oracle = await Oracle.start();
afterAll(() => oracle.stop());

const restricted = await oracle.attacker({ level: "restricted" });
const responder = await oracle.attacker({ level: "responder" });

/** Sends fields given as JSON texts. Returns the id. */
function send(client: TestClient, fields: Record<string, string>): string {
  const id = crypto.randomUUID();
  const given = Object.entries({ protocol: '"mcpx/v0.1"', id: `"${id}"`, ...fields });
  client.ws.send(`{${given.map(([name, value]) => `${JSON.stringify(name)}:${value}`).join(",")}}`);
  return id;
}

const call = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${canary}"}}`;
const notification = '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}';
const response = '{"jsonrpc":"2.0","id":1,"result":{}}';
const v0Chat = '{"jsonrpc":"2.0","method":"notifications/chat/message","params":{"text":"hi"}}';
const v0 = '"mcp-x/v0"';
const to = '["listener"]';

type Fields = Record<string, string>;

async function refusedBy(client: TestClient, fields: Fields, reason: string): Promise<Seen> {
  const answer = await client.answer(send(client, fields));
  expect(answer.payload.error?.data.reason ?? answer.payload.reason).toBe(reason);
  await oracle.check({ connection: client, denials: [reason] });
  return answer;
}

const spellings: [title: string, fields: Fields][] = [
  ["a request", { kind: '"mcp"', to, payload: call }],
  ["a notification", { kind: '"mcp"', payload: notification }],
  ["a response", { kind: '"mcp"', to, correlation_id: '"x"', payload: response }],
  ["a request without addressee", { kind: '"mcp"', payload: call }],
  ["a kind in escapes", { kind: '"\\u006dcp"', to, payload: call }],
  ["a kind all in escapes", { kind: '"\\u006d\\u0063\\u0070"', to, payload: call }],
  ["a kind with its method", { kind: '"mcp/request:tools/call"', to, payload: call }],
  ["a kind with its method, dotted", { kind: '"mcp.request.tools/call"', to, payload: call }],
  ["a kind with its method and context", { kind: '"mcp/request:tools/call:x"', to, payload: call }],
  ["a request in v0", { protocol: v0, kind: '"mcp"', to, payload: call }],
  ["v0 chat with an id is a request", { protocol: v0, kind: '"mcp"', to, payload: v0Chat.replace("{", '{"id":1,') }],
  ["v0 chat with an id of null", { protocol: v0, kind: '"mcp"', to, payload: v0Chat.replace("{", '{"id":null,') }],
  ["v0 chat with an escaped id", { protocol: v0, kind: '"mcp"', to, payload: v0Chat.replace("{", '{"\\u0069d":1,') }],
  ["v0 chat in a v0.1 envelope", { kind: '"mcp"', payload: v0Chat }],
  ["v0 chat with two methods", { protocol: v0, kind: '"mcp"', payload: v0Chat.replace("}}", '},"method":"notifications/chat/message"}') }],
  ["v0 chat behind another method", { protocol: v0, kind: '"mcp"', payload: v0Chat.replace("{", '{"method":"tools/call",') }],
  ["v0 chat under a kind that names a request", { protocol: v0, kind: '"mcp/request:tools/call"', payload: v0Chat }],
  ["v0 chat under a kind that names itself", { protocol: v0, kind: '"mcp/request:notifications/chat/message"', payload: v0Chat }],
  ["v0 chat in other letters", { protocol: v0, kind: '"mcp"', payload: v0Chat.replace("chat", "Chat") }],
  ["v0 chat with a space", { protocol: v0, kind: '"mcp"', payload: v0Chat.replace("message", "message ") }],
  ["something like v0 chat", { protocol: v0, kind: '"mcp"', payload: v0Chat.replace("message", "message/x") }],
  ["a method in a prototype", { kind: '"mcp"', to, payload: `{"__proto__":${call}}` }],
]; // biome-ignore format: a table

test.for(spellings)("[X1-3.1-3] [X1-3.2-1] a restricted participant sends no mcp, however it is spelled: %s", async ([, fields]) => {
  const { kind, payload, from } = await refusedBy(restricted, fields, "privilege_violation");
  expect({ kind, from, code: payload.error.code }).toEqual({ kind: "mcp", from: "system:gateway", code: -32001 });
}); // biome-ignore format: one call

test("[X1-3.1-3] poisoned keys hide no method from the gateway", async () => {
  // The engine may take an escaped key for an earlier one that begins like its escape (nodejs/node#63785).
  const poison = (key: string) => `{"jsonrpc":"2.0","id":1,"result":{},"${key}":0}`;
  const asker = await enter(oracle.server, "asker", { topic: oracle.topic });
  const request = asker.send({ kind: "mcp", to: [responder.id], payload: JSON.parse(call) });
  await asker.ack(request);
  const answer = { kind: '"mcp"', to: '["asker"]', correlation_id: `"${request}"` };
  await responder.ack(send(responder, { ...answer, payload: poison("\\\\u006d") }));
  const hidden = '{"jsonrpc":"2.0","id":1,"result":{},"\\u006dethod":"tools/call"}';
  expect(await responder.outcome(send(responder, { ...answer, payload: hidden }))).toBe("bad_json_rpc");
  await oracle.check({ connection: responder, denials: ["bad_json_rpc"], published: 2 });
  const soft = { protocol: v0, kind: '"mcp"' };
  expect(await restricted.outcome(send(restricted, { ...soft, payload: v0Chat.replace("{", '{"\\\\u":0,') }))).toBe("ack");
  expect(await restricted.outcome(send(restricted, { ...soft, payload: v0Chat.replace("{", '{"\\u0069d":0,') }))).toBe("privilege_violation");
  await oracle.check({ connection: restricted, denials: ["privilege_violation"], published: 1 });
  await asker.leave();
}); // biome-ignore format: lines that belong together

const lookAlikes = [
  "MCP", "Mcp", " mcp", "mcp ", "mcp\u0000", "mcp\n", "m\u200bcp", "\ufeffmcp", "мср", "ｍｃｐ", "mcp/", "/mcp", "mcp/Proposal",
  "mcp/proposals", "mcp\\proposal", "mcp.Proposal", "mcp.request", "mcp//request:tools/call", "mcp/Request:tools/call", "Chat",
  "chat ", "chat/mcp", "сhat", "SYSTEM", "system ", "presence ", "mcpx.withdraw.Proposal", "mcpx.withdraw", "mcpx/withdraw/proposal",
  "mcp-x/v0", "__proto__", "constructor", "toString", "x".repeat(100_000),
]; // biome-ignore format: a list

test.for(lookAlikes.map((kind) => ({ kind, title: JSON.stringify(kind).slice(0, 40) })))(
  "[X1-4-1] [PL-7-2] a look-alike is an unknown kind: $title",
  async ({ kind }) => void (await refusedBy(restricted, { kind: JSON.stringify(kind), to, payload: call }, "unknown_kind")),
); // biome-ignore format: one call

const gatewayOnly: [title: string, fields: Fields, refused: string][] = [
  ["presence join", { kind: '"presence"', payload: '{"event":"join","participant":{"id":"ghost"}}' }, "kind_not_allowed"],
  ["presence leave of a bystander", { kind: '"presence"', payload: '{"event":"leave","participant":{"id":"listener"}}' }, "kind_not_allowed"],
  ["an empty presence", { kind: '"presence"', payload: "{}" }, "kind_not_allowed"],
  ["a welcome", { kind: '"system"', payload: '{"event":"welcome"}' }, "bad_system"],
  ["an ack", { kind: '"system"', payload: '{"event":"ack","id":"x","seq":1}' }, "bad_system"],
  ["a privilege_changed", { kind: '"system"', payload: '{"event":"privilege_changed","participant":"x","new":"full"}' }, "bad_system"],
  ["a draining", { kind: '"system"', payload: '{"event":"draining","reconnect_after_ms":0}' }, "bad_system"],
  ["an event beside a good type", { kind: '"system"', payload: '{"type":"tool_access_policy","policy":{},"event":"welcome"}' }, "bad_system"],
  ["an event of null beside a good type", { kind: '"system"', payload: '{"type":"tool_access_policy","policy":{},"event":null}' }, "bad_system"],
  ["an escaped event beside a good type", { kind: '"system"', payload: '{"type":"tool_access_policy","policy":{},"\\u0065vent":"welcome"}' }, "bad_system"],
  ["no type", { kind: '"system"', payload: "{}" }, "bad_system"],
  ["a type that is no string", { kind: '"system"', payload: '{"type":["refresh"]}' }, "bad_system"],
  ["a type in other letters", { kind: '"system"', payload: '{"type":"Refresh"}' }, "bad_system"],
  ["a type of Object's own", { kind: '"system"', payload: '{"type":"constructor"}' }, "bad_system"],
  ["a policy that is a list", { kind: '"system"', payload: '{"type":"tool_access_policy","policy":[]}' }, "bad_system"],
  ["a private key", { kind: '"system"', payload: `{"type":"key","jwk":{"kty":"OKP","crv":"Ed25519","x":"${"A".repeat(43)}","d":"${canary}"}}` }, "bad_system"],
  ["a symmetric key", { kind: '"system"', payload: `{"type":"key","jwk":{"kty":"oct","k":"${canary}"}}` }, "bad_system"],
  ["a point off the curve", { kind: '"system"', payload: `{"type":"key","jwk":{"kty":"EC","crv":"P-256","x":"${"A".repeat(43)}","y":"${"A".repeat(43)}"}}` }, "bad_system"],
  ["a status of 100 000 characters", { kind: '"system"', payload: `{"type":"presence_status","status":"${"x".repeat(100_000)}"}` }, "bad_system"],
]; // biome-ignore format: a table

test.for(gatewayOnly)("[X1-4-2] what only the gateway says is refused from anybody else: %s", async ([, fields, refused]) => {
  const full = await oracle.sameAttacker();
  await refusedBy(full, fields, refused);
  await refusedBy(restricted, fields, refused);
}); // biome-ignore format: one call

test("[X1-3.1-3] mcp inside a chat stays a chat", async () => {
  const payload = JSON.stringify({ text: call, kind: "mcp", jsonrpc: "2.0", id: 1, method: "tools/call" });
  await restricted.ack(send(restricted, { kind: '"chat"', to, payload }));
  await oracle.check({ connection: restricted, published: 1 });
  expect(oracle.published[0].kind).toBe("chat");
});

const proposals: [title: string, payload: string][] = [
  ["with jsonrpc", '{"jsonrpc":"2.0","method":"m","params":{}}'],
  ["with an id", '{"id":1,"method":"m","params":{}}'],
  ["with an id of null", '{"id":null,"method":"m","params":{}}'],
  ["with an escaped id", '{"\\u0069d":1,"method":"m","params":{}}'],
  ["without method", '{"params":{}}'],
  ["with an empty method", '{"method":"","params":{}}'],
  ["without params", '{"method":"m"}'],
  ["with a list of params", '{"method":"m","params":[]}'],
  ["with a reason that is no text", '{"method":"m","params":{},"reason":{}}'],
  ["with no time to live", '{"method":"m","params":{},"ttl_ms":0}'],
  ["with a time to live of years", '{"method":"m","params":{},"ttl_ms":1e300}'],
  ["with a time to live as text", '{"method":"m","params":{},"ttl_ms":"60000"}'],
  ["with an end that is no time", '{"method":"m","params":{},"expires_at":"never"}'],
];

test.for(proposals)("[X1-4.2-2] a proposal %s is refused", async ([, payload]) => {
  await refusedBy(restricted, { kind: '"mcp/proposal"', payload }, "bad_proposal");
});

describe("[PL-9-2] somebody else's proposal", () => {
  async function proposed(): Promise<{ id: string; own: string; leave: () => Promise<void> }> {
    const proposer = await enter(oracle.server, "proposer", { topic: oracle.topic, level: "restricted" });
    const id = send(proposer, { kind: '"mcp/proposal"', payload: '{"method":"m","params":{}}' });
    await proposer.ack(id);
    const own = send(restricted, { kind: '"mcp/proposal"', payload: '{"method":"m","params":{}}' });
    await restricted.ack(own);
    return { id, own, leave: () => proposer.leave() };
  }
  const kind = '"mcpx.withdraw.proposal"';
  const ways: [title: string, (id: string, own: string) => Fields, refused?: string][] = [
    ["by correlation_id", (id) => ({ kind, correlation_id: `"${id}"`, payload: "{}" })],
    ["by correlationId", (id) => ({ kind, correlationId: `"${id}"`, payload: "{}" })],
    ["in a list", (id) => ({ kind, payload: `{"proposals":["${id}"]}` })],
    ["behind an own one", (id, own) => ({ kind, payload: `{"proposals":["${own}","${id}"]}` })],
    ["by correlation_id beside an own list", (id, own) => ({ kind, correlation_id: `"${id}"`, payload: `{"proposals":["${own}"]}` })],
    ["in a first list that others may read", (id, own) => ({ kind, payload: `{"proposals":["${id}"],"proposals":["${own}"]}` }), "duplicate_key"],
    ["in an escaped second list", (id, own) => ({ kind, payload: `{"proposals":["${id}"],"propos\\u0061ls":["${own}"]}` }), "duplicate_key"],
    ["by two ids that differ", (id, own) => ({ kind, correlation_id: `"${own}"`, correlationId: `"${id}"`, payload: "{}" }), "bad_field"],
  ]; // biome-ignore format: a table

  test.for(ways)("cannot be withdrawn %s", async ([, fields, refused = "not_the_proposer"]) => {
    const { id, own, leave } = await proposed();
    expect(await restricted.outcome(send(restricted, fields(id, own)))).toBe(refused);
    await oracle.check({ connection: restricted, denials: [refused], published: 2 });
    await leave();
  });

  test("cannot be rejected by a restricted participant it was not addressed to", async () => {
    const { id, leave } = await proposed();
    const reject = { kind: '"mcpx.reject.proposal"', correlation_id: `"${id}"`, payload: "{}" };
    expect(await restricted.outcome(send(restricted, reject))).toBe("kind_not_allowed");
    await oracle.check({ connection: restricted, denials: ["kind_not_allowed"], published: 2 });
    await leave();
  });
});

const lifecycle: [title: string, fields: Fields][] = [
  ["a withdrawal of nothing", { kind: '"mcpx.withdraw.proposal"', payload: "{}" }],
  ["a withdrawal of an empty list", { kind: '"mcpx.withdraw.proposal"', payload: '{"proposals":[]}' }],
  ["a withdrawal of 65", { kind: '"mcpx.withdraw.proposal"', payload: JSON.stringify({ proposals: Array.from({ length: 65 }, (_, i) => `p${i}`) }) }],
  ["a withdrawal of one, 64 times", { kind: '"mcpx.withdraw.proposal"', payload: JSON.stringify({ proposals: Array(64).fill("p") }) }],
  ["a withdrawal by numbers", { kind: '"mcpx.withdraw.proposal"', payload: '{"proposals":[1]}' }],
  ["a rejection of nothing", { kind: '"mcpx.reject.proposal"', payload: "{}" }],
  ["a reason that is no text", { kind: '"mcpx.reject.proposal"', correlation_id: '"x"', payload: '{"reason":{}}' }],
  ["a rejection with a reason of 2 001 characters", { kind: '"mcpx.reject.proposal"', correlation_id: '"x"', payload: `{"reason":"${"r".repeat(2_001)}"}` }],
  ["a rejection with a code of 65 characters", { kind: '"mcpx.reject.proposal"', correlation_id: '"x"', payload: `{"code":"${"c".repeat(65)}"}` }],
  ["a withdrawal with a reason of 2 001 characters", { kind: '"mcpx.withdraw.proposal"', correlation_id: '"x"', payload: `{"reason":"${"r".repeat(2_001)}"}` }],
  ["a status with a reason of 2 001 characters", { kind: '"mcpx.status.proposal"', correlation_id: '"x"', payload: `{"status":"queued","reason":"${"r".repeat(2_001)}"}` }],
  ["a status nobody knows", { kind: '"mcpx.status.proposal"', correlation_id: '"x"', payload: '{"status":"done"}' }],
  ["a status in a list", { kind: '"mcpx.status.proposal"', correlation_id: '"x"', payload: '{"status":["queued"]}' }],
  ["a status about nothing", { kind: '"mcpx.status.proposal"', payload: '{"status":"queued"}' }],
]; // biome-ignore format: a table

test.for(lifecycle)("[PL-5-1] [PL-8-1] [PL-2-1] %s is refused", async ([, fields]) => {
  await refusedBy(restricted, fields, "bad_lifecycle");
});

test("[PL-8-1] a withdrawal of 32 large envelopes keeps nobody waiting", async () => {
  const client = await oracle.attacker({ level: "restricted" });
  const wide = JSON.stringify({ text: "x", list: Array(60_000).fill([]) });
  const ids: string[] = [];
  // One by one: the bystanders share this thread, and are not what is tried here.
  for (let i = 0; i < 32; i += 1) {
    ids.push(send(client, { kind: '"chat"', payload: wide }));
    await client.ack(ids.at(-1) ?? "");
  }
  await oracle.check({ connection: client, published: 32 });
  // Of the processor, not of the clock, and beside what reading them would cost here and now: other tests run too.
  const reading = process.cpuUsage();
  for (let i = 0; i < ids.length; i += 1) expect(JSON.parse(wide).list).toHaveLength(60_000);
  const { user: read } = process.cpuUsage(reading);
  const before = process.cpuUsage();
  const payload = JSON.stringify({ proposals: ids });
  await client.ack(send(client, { kind: '"mcpx.withdraw.proposal"', payload }));
  const { user } = process.cpuUsage(before);
  expect(user).toBeLessThan(read);
  await oracle.check({ connection: client, published: 1 });
  await client.leave();
});

describe("[X1-5.1-2] while being demoted", () => {
  test("what is read after the demotion is refused, though it was sent before", async () => {
    const client = await oracle.attacker();
    const admin = await oracle.server.adminToken();
    const demoted = oracle.server.call("POST", `/admin/participants/${client.id}/demote`, admin);
    const ids: string[] = [];
    for (let i = 0; i < 2_000; i += 1) ids.push(send(client, { kind: '"mcp"', to, payload: call }));
    expect((await demoted).status).toBe(200);
    // Sent when the admin had their answer: this one must not get through.
    const late = send(client, { kind: '"mcp"', to, payload: call });
    const outcomes: string[] = [];
    for (const id of [...ids, late]) outcomes.push(await outcomeOf(client, id));
    expect(outcomes.at(-1)).toBe("privilege_violation");
    const accepted = outcomes.filter((outcome) => outcome === "ack").length;
    // Never back and forth: acks first, then only refusals.
    expect(outcomes.lastIndexOf("ack")).toBe(accepted - 1);
    await oracle.check({
      connection: client,
      denials: Array(outcomes.length - accepted).fill("privilege_violation"),
      published: accepted,
    });
    await client.leave();
  });

  /** Acks come when the disk has it, refusals at once: the answers may stand in any order. */
  async function outcomeOf(client: TestClient, id: string): Promise<string> {
    const isAnswer = (message: Seen) => message.correlation_id === id && message.from === "system:gateway";
    while (!client.inbox.some(isAnswer)) {
      const message = await client.next();
      client.inbox.push(message);
      await client.settled();
    }
    const [answer] = client.inbox.splice(client.inbox.findIndex(isAnswer), 1);
    return answer.payload.error?.data.reason ?? answer.payload.event;
  }

  test("a refresh does not bring the old level back", async () => {
    const client = await oracle.attacker();
    const admin = await oracle.server.adminToken();
    await oracle.server.call("POST", `/admin/participants/${client.id}/demote`, admin);
    const token = await oracle.token({ sub: client.id });
    await client.ack(client.send({ kind: "system", payload: { type: "refresh", token } }));
    expect(await client.outcome(send(client, { kind: '"mcp"', to, payload: call }))).toBe(
      "privilege_violation",
    );
    await oracle.check({ connection: client, denials: ["privilege_violation"] });
    await client.leave();
  });

  test("no participant promotes itself, by whatever it sends or calls", async () => {
    const token = await oracle.token({ level: "restricted" });
    const { sub } = JSON.parse(atob(token.split(".")[1] ?? ""));
    const ways = ["promote", "promote?level=full", "promote?topic=room:target", "demote?level=full"];
    for (const way of ways) {
      const { status } = await oracle.server.call("POST", `/admin/participants/${sub}/${way}`, token);
      expect(status).toBe(403);
    }
    await oracle.check({ denials: Array(ways.length).fill("admin_only") });
  });
});

describe("floods", () => {
  let limited: Oracle;
  afterAll(() => limited.stop());

  test("[X1-7.3-1] [X0-9-5] proposals past the rate are refused, and who goes on is closed with 4429", async () => {
    const limits = { proposalsPerMinute: 5, faultsPerMinute: 20 };
    limited = await Oracle.start({ limits });
    const client = await limited.attacker({ level: "restricted" });
    for (let i = 0; i < 40; i += 1) {
      send(client, { kind: '"mcp/proposal"', payload: `{"method":"m","params":{"note":"${canary}"}}` });
    }
    const { code } = await client.closing();
    expect(code).toBe(4429);
    const refusals = client.inbox.filter(({ payload }) => payload.reason === "rate_limited");
    expect(refusals).toHaveLength(20);
    expect(refusals[0].payload.retry_after_ms).toBeGreaterThan(0);
    await limited.check({
      connection: client,
      closes: 4429,
      denials: [...Array(20).fill("rate_limited"), "too_many_faults"],
      published: 5,
    });
  });

  test("[X0-9-4] coming back does not refill the bucket", async () => {
    const token = await limited.token({ level: "restricted" });
    const propose = async () => {
      const client = await enterWith(limited.server, token, { topic: limited.topic });
      const outcome = await client.outcome(
        send(client, { kind: '"mcp/proposal"', payload: '{"method":"m","params":{}}' }),
      );
      await client.leave();
      return outcome;
    };
    const outcomes: string[] = [];
    for (let i = 0; i < 7; i += 1) outcomes.push(await propose());
    expect(outcomes).toEqual(["ack", "ack", "ack", "ack", "ack", "rate_limited", "rate_limited"]);
    const { sub } = JSON.parse(atob(token.split(".")[1] ?? ""));
    await limited.check({ denials: ["rate_limited", "rate_limited"], actor: sub, published: 5 });
  });
});

test("control: the oracle sees a bystander who is no longer served", async () => {
  const admin = await oracle.server.adminToken();
  await oracle.server.call("DELETE", "/admin/participants/listener", admin);
  await expect(oracle.check({})).rejects.toThrow("listener was closed (4403 kicked)");
});

// Every refusal and every decision leaves a record in a chain that shows tampering.
import { join } from "node:path";
import { openState } from "@mcpx/host";
import { afterEach, beforeEach, expect, test } from "vitest";
import { enter, refusedOnConnect } from "../support/enter.ts";
import type { Seen } from "../support/test-client.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

let server: TestServer;
let admin: string;
beforeEach(async () => {
  server = await startTestServer();
  admin = await server.adminToken();
});
afterEach(() => server.stop());

const audit = async (query = "") => (await server.call("GET", `/admin/audit?${query}`, admin)).body;

test("each refused envelope is one count of one record, with who, where and why", async () => {
  const topic = "room:audit";
  const client = await enter(server, "novice", { topic, level: "restricted" });
  const refused: [string, Record<string, unknown>][] = [
    ["privilege_violation", { kind: "mcp", to: ["x"], payload: { jsonrpc: "2.0", id: 1, method: "m" } }],
    ["privilege_violation", { kind: "mcp", payload: { jsonrpc: "2.0", method: "n" } }],
    ["wrong_from", { kind: "chat", from: "boss", payload: { text: "hi" } }],
    ["bad_chat", { kind: "chat", payload: {} }],
    ["unknown_kind", { kind: "shout", payload: {} }],
  ];
  for (const [reason, envelope] of refused) expect(await client.outcome(client.send(envelope))).toBe(reason);
  const { records } = await audit("action=refused");
  const counts = Object.fromEntries(records.map(({ reason, count }: Seen) => [reason, count]));
  expect(counts).toEqual({ privilege_violation: 2, wrong_from: 1, bad_chat: 1, unknown_kind: 1 });
  for (const record of records) {
    expect(record).toMatchObject({ action: "refused", actor: "novice", topic, at: expect.any(String) });
  }
});

test("who is refused on connect is recorded with reason and name, or address where it has none, never with a token", async () => {
  const token = await server.token({ sub: "eve", topics: ["room:hers"] });
  await refusedOnConnect(server, undefined, { topic: "room:other" });
  await refusedOnConnect(server, token, { topic: "room:other" });
  await server.call("GET", "/v0/topics/room:other/history", token);
  await server.call("GET", "/admin/audit", token);
  const body = await audit();
  const seen = body.records.map(({ action, reason, actor }: Seen) => `${action} ${reason} ${actor}`);
  expect(seen).toEqual([
    "GET /admin/audit admin_only eve",
    "GET /v0/topics/:topic/history topic_forbidden eve",
    "room.join topic_forbidden eve",
    "room.join unauthorised 127.0.0.1",
  ]);
  for (const part of token.split(".")) expect(JSON.stringify(body)).not.toContain(part);
});

test("who asks for made-up topics leaves few records, and each refusal is counted", async () => {
  const token = await server.token({ sub: "eve", topics: ["room:hers"] });
  const made = Array.from({ length: 12 }, (_, i) =>
    refusedOnConnect(server, token, { topic: `made-up-${i}` }),
  );
  await Promise.all(made);
  const { records } = await audit("actor=eve");
  expect(records.filter(({ topic }: Seen) => topic === undefined).length).toBeGreaterThan(0);
  expect(records.length).toBeLessThan(12);
  expect(records.reduce((sum: number, { count }: Seen) => sum + count, 0)).toBe(12);
});

test("admins' decisions are recorded with who decided what", async () => {
  await (await enter(server, "subject", { level: "restricted" })).leave();
  await server.call("POST", "/admin/participants/subject/promote?topic=room:test", admin);
  await server.call("POST", "/admin/participants/subject/demote?topic=room:test", admin);
  await server.call("DELETE", "/admin/participants/subject?topic=room:test", admin);
  const { jti } = await server.identity.tokens.mint({ topics: [] }, { ttlMs: 60_000 });
  await server.call("DELETE", `/admin/tokens/${jti}`, admin);
  const { records } = await audit();
  expect(records.reverse()).toMatchObject([
    {
      action: "participant.promote",
      actor: "admin",
      subject: "subject",
      topic: "room:test",
      detail: { old: "restricted", new: "full" },
    },
    {
      action: "participant.demote",
      actor: "admin",
      subject: "subject",
      detail: { old: "full", new: "restricted" },
    },
    { action: "participant.kick", actor: "admin", subject: "subject", topic: "room:test" },
    { action: "token.revoke", actor: "admin", subject: jti },
  ]);
});

test("records come newest first, in pages, by action and by actor, and outlive a restart", async () => {
  const client = await enter(server, "clumsy");
  for (const kind of ["a", "b", "presence"]) await client.outcome(client.send({ kind, payload: {} }));
  await client.outcome(client.say("", { from: "other" }));
  await server.restart();
  const { records } = await audit();
  expect(records.map(({ reason, count }: Seen) => `${reason} ${count}`)).toEqual([
    "wrong_from 1",
    "kind_not_allowed 1",
    "unknown_kind 2",
  ]);
  const page = await audit(`limit=1&before=${records[0].seq}`);
  expect(page.records).toEqual([records[1]]);
  expect((await audit("actor=clumsy")).records).toEqual(records);
  expect((await audit("actor=nobody")).records).toEqual([]);
  expect((await audit("action=room.join")).records).toEqual([]);
});

test("the chain can be verified, and shows a record that was changed", async () => {
  for (let i = 0; i < 3; i += 1) {
    await refusedOnConnect(server, undefined, { topic: `room:${i}` });
    await audit();
  }
  const { chain } = await audit("verify=1");
  expect(chain).toEqual({ ok: true, records: 3, head: expect.stringMatching(/^[0-9a-f]{64}$/) });
  const db = openState(join(server.dataDir, "state.db"));
  db.exec("UPDATE audit SET actor = 'somebody else' WHERE seq = 2");
  db.close();
  expect((await audit("verify=1")).chain).toEqual({ ok: false, at: 2 });
});

test("[B-AUDIT-1] decisions of rooms are in the chain: fulfilled, changed, rejected, withdrawn, expired, once each", async () => {
  const topic = "room:decisions";
  const robot = await enter(server, "robot", { topic });
  const human = await enter(server, "human", { topic });
  const agent = await enter(server, "agent", { topic, level: "restricted" });
  const params = { name: "heat", arguments: { password: "hush-hush" } };
  const propose = async (id: string, more = {}) => {
    const payload = { method: "tools/call", params, ...more };
    await agent.outcome(agent.send({ id, kind: "mcp/proposal", to: ["robot"], payload }));
  };
  const fulfil = (id: string, name = "heat") => {
    const payload = { jsonrpc: "2.0", id, method: "tools/call", params: { ...params, name } };
    return human.outcome(human.send({ kind: "mcp", to: ["robot"], correlation_id: id, payload }));
  };
  const end = (client: typeof human, kind: string, id: string) =>
    client.outcome(client.send({ kind, correlation_id: id, payload: { reason: "so" } }));

  await propose("p-expires", { ttl_ms: 1 });
  await propose("p-fulfilled");
  await fulfil("p-fulfilled");
  await fulfil("p-fulfilled");
  await propose("p-changed");
  await fulfil("p-changed", "explode");
  await propose("p-rejected");
  await end(human, "mcpx.reject.proposal", "p-rejected");
  await end(robot, "mcpx.reject.proposal", "p-rejected");
  await end(robot, "mcpx.reject.proposal", "p-rejected");
  await propose("p-withdrawn");
  await end(agent, "mcpx.withdraw.proposal", "p-withdrawn");
  // The control: what nobody has decided about is not among them.
  await propose("p-waits");
  const ofRooms = async () =>
    (await audit()).records.filter(({ action }: Seen) => action.startsWith("proposal."));
  await expect.poll(async () => (await ofRooms()).length).toBe(6);
  const shown = await (await fetch(`${server.url}/metrics`)).text();
  const counted = [...shown.matchAll(/^mcpx_proposals_total\{outcome="(\w+)"\} (\d+)$/gm)].map(
    ([, ...pair]) => pair,
  );
  expect(Object.fromEntries(counted)).toEqual({
    fulfilled: "2",
    rejected: "1",
    withdrawn: "1",
    expired: "1",
  });
  const records = await ofRooms();
  const said = records.map(({ action, actor, detail }: Seen) => `${action} ${actor} ${detail.proposal}`);
  expect(said.sort()).toEqual([
    "proposal.advice human p-rejected",
    "proposal.expired agent p-expires",
    "proposal.fulfilled human p-changed",
    "proposal.fulfilled human p-fulfilled",
    "proposal.rejected robot p-rejected",
    "proposal.withdrawn agent p-withdrawn",
  ]);
  const of = (id: string) => records.find(({ detail }: Seen) => detail.proposal === id);
  expect(of("p-fulfilled")).toMatchObject({
    subject: "robot",
    topic,
    detail: { tool: "heat", changed: false },
  });
  expect(of("p-changed")).toMatchObject({
    detail: { tool: "explode", proposedTool: "heat", changed: true, proposer: "agent" },
  });
  expect(JSON.stringify(records)).not.toContain("hush-hush");
  expect((await audit("verify=1")).chain.ok).toBe(true);
});

// What is allowed beforehand is signed like a call: by an approver, exactly, once, and never by who it is for.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { statementKey } from "@mcpx/host";
import { type GrantTerms, grantLines, signStatement } from "@mcpx/protocol";
import { afterEach, beforeEach, expect, test } from "vitest";
import { programArgs } from "../support/programs.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { callTool } from "../tree/support/ask.ts";
import { newKey } from "./attacks/support/keys.ts";
import { giveGrant, grantProof } from "./support/give-grant.ts";

let server: TestServer;
let traces: string;
const alice = newKey();
const shredder = programArgs("tests/gates/support/shredder.ts");

beforeEach(async () => {
  server = await startTestServer();
  traces = join(server.dataDir, "traces");
  const papers = { command: process.execPath, args: [...shredder, traces], trusted: true };
  await server.restart({ config: { mcpServers: { papers }, gates: { hold: 0 } } });
  await server.approvers.add({ name: "alice", jwk: alice.jwk });
});
afterEach(() => server.stop());

const here = (path: string, body: object) => server.callHere("POST", path, body);
const done = () => {
  try {
    return readFileSync(traces, "utf8").trimEnd().split("\n");
  } catch {
    return [];
  }
};
const shred = async (paper: string) => {
  const token = await server.token({ sub: "agent", topics: [], tools: ["**"] });
  const { message } = await callTool({ url: `${server.url}/mcp`, token }, "papers.shred", { paper });
  return message.result;
};
const wish = { principal: "agent", tools: "papers.shred", uses: 2 };
const reasonOf = ({ body }: { body: { error?: { reason?: string } } }) => body.error?.reason;

test("[B-KEY-1] nothing is granted without a signature of an approver under exactly its terms", async () => {
  expect((await here("/admin/grants", wish)).status).toBe(400);
  const { terms } = (await here("/admin/grants/terms", wish)).body;
  const give = (proof: string) => here("/admin/grants", { grant_id: terms.grant_id, proof });
  const stranger = newKey();
  expect(reasonOf(await give(await grantProof(terms, stranger)))).toBe("bad_proof");
  expect(reasonOf(await give(await grantProof({ ...terms, uses: 1_000 }, alice)))).toBe("bad_proof");
  expect(reasonOf(await give(await grantProof({ ...terms, tools: "**" }, alice)))).toBe("bad_proof");
  // What approves a call is no grant, whatever is in it.
  const key = statementKey(alice.privateKey, alice.kid);
  expect(reasonOf(await give(await signStatement(terms as never, key)))).toBe("bad_proof");
  expect((await here("/admin/grants", { grant_id: terms.grant_id, credential: {} })).status).not.toBe(200);
  expect(await shred("taxes")).toMatchObject({ structuredContent: { status: "confirmation_required" } });
  // The control: signed as it is, it counts, and is recorded with who signed.
  const proof = await grantProof(terms, alice);
  expect(await give(proof)).toMatchObject({ status: 200, body: { grantedBy: "alice", usesLeft: 2 } });
  expect(await give(proof)).toMatchObject({ status: 404 });
  expect(await shred("bills")).toMatchObject({ content: [{ text: "shred is done" }] });
  const { records } = (await server.callHere("GET", "/admin/audit?action=gate.grant")).body;
  expect(records).toMatchObject([
    { actor: "alice", subject: "agent", detail: { key: alice.kid, tools: "papers.shred" } },
  ]);
  expect(records).toHaveLength(1);
});

test("[B-KEY-1] nobody grants to themselves, by name or by the key of the call that waits", async () => {
  const own = await giveGrant(here, alice, { ...wish, principal: "alice" });
  expect(reasonOf(own)).toBe("self_approval");
});

test("[B-KEY-1] the same signature lets the call go that waits, where its terms say so, and only then", async () => {
  const waiting = (await shred("taxes")).structuredContent;
  const like = { ...wish, like: waiting.confirmation_id };
  const without = await giveGrant(here, alice, like);
  expect(without.status).toBe(200);
  expect(done()).toEqual([]);
  const { terms } = (await here("/admin/grants/terms", { ...like, includesCall: true })).body as {
    terms: GrantTerms;
  };
  expect(terms.call).toMatchObject({ confirmation_id: waiting.confirmation_id, tool: "papers.shred" });
  expect(grantLines(terms).join("\n")).toContain("the call of papers.shred that waits now goes on");
  const given = await here("/admin/grants", {
    grant_id: terms.grant_id,
    proof: await grantProof(terms, alice),
  });
  expect(given).toMatchObject({ status: 200, body: { call: { status: "done" } } });
  expect(done()).toEqual(['shred {"paper":"taxes"}']);
  const { records } = (await server.callHere("GET", "/admin/audit?action=gate.approve")).body;
  expect(records).toMatchObject([
    { actor: "alice", detail: { gate: waiting.confirmation_id, key: alice.kid } },
  ]);
  // Of somebody else's call, or of one that is over, nothing is signed.
  const again = await here("/admin/grants/terms", { ...like, includesCall: true });
  expect(reasonOf(again)).toBe("confirmation_used");
  expect((await here("/admin/grants/terms", { ...wish, includesCall: true })).status).toBe(400);
});

test("[B-KEY-1] a grant has one signature, and stands for no second one", async () => {
  const rules = [{ tools: "papers.shred", action: "ask" as const, approvers: 2 }];
  const papers = { command: process.execPath, args: [...shredder, traces], trusted: true };
  await server.restart({ config: { mcpServers: { papers }, gates: { hold: 0, rules } } });
  expect((await giveGrant(here, alice, wish)).status).toBe(200);
  expect(await shred("taxes")).toMatchObject({ structuredContent: { status: "confirmation_required" } });
  expect(done()).toEqual([]);
});

test("what a grant says is what it allows", () => {
  const base = {
    type: "grant",
    version: 1,
    aggregator_id: "a",
    grant_id: "g",
    principal: "agent",
    sign_before: 1,
  } as const;
  const [first, second] = grantLines({ ...base, tools: "files.*", uses: 1, ttl_ms: 5_400_000 });
  expect(first).toBe("agent may call files.* without an approval: once, for 1 h 30 min");
  expect(second).toBe("with any arguments");
  expect(grantLines({ ...base, tools: "x", session: "s", arguments_digest: "d" })[1]).toContain(
    "only with exactly",
  );
});

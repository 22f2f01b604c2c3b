import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { createManualClock } from "@mcpx/host";
import { type Decision, type GateTerms, type JsonObject, statementOf } from "@mcpx/protocol";
import { SignJWT } from "jose";
import { expect, test } from "vitest";
import { type InProcessServer, inProcessServer, serverOptions } from "../testing/in-process-server.ts";
import { openBelow } from "../testing/nested.ts";
import { openTreeState } from "../testing/open-tree-state.ts";
import { callerOf, type TestExchange, type TestTree, testTree } from "../testing/test-tree.ts";
import { createGatekeeper, type Gatekeeper, type GateOptions } from "./gatekeeper.ts";
import { anchorKeys } from "./proofs/anchors.ts";
import { createSqliteGateStore } from "./store/gate-store-sqlite.ts";

const operator = generateKeyPairSync("ed25519");
const stranger = generateKeyPairSync("ed25519");

const tool = (name: string, annotations?: JsonObject) => ({
  name,
  inputSchema: { type: "object" },
  ...(annotations && { annotations }),
});
const tools = [tool("wipe", { destructiveHint: true }), tool("look", { readOnlyHint: true }), tool("mute")];

interface Gated extends TestTree {
  server: InProcessServer;
  gates: Gatekeeper;
}

function gatesFor(id: string, options: Partial<GateOptions> = {}): Gatekeeper {
  return createGatekeeper({
    aggregatorId: id,
    store: createSqliteGateStore({ db: openTreeState(), clock: createManualClock() }),
    rules: [],
    unannotated: "allow",
    anchors: anchorKeys([
      { kind: "key", name: "operator", jwk: operator.publicKey.export({ format: "jwk" }) },
    ]),
    holdMs: 0,
    holdWithProgressMs: 0,
    approveUrl: (gate) => `http://127.0.0.1/approve/${gate}`,
    ...options,
  });
}

function gated(options: Partial<GateOptions> = {}, segment?: string): Gated {
  const server = inProcessServer({ tools });
  const gates = gatesFor("a1", options);
  const tree = testTree([serverOptions("s", server.open, { isTrusted: true })], {
    gates,
    ...(segment && { segment, hasParents: true }),
  });
  return { ...tree, server, gates };
}

const called = ({ asked }: InProcessServer) =>
  asked.filter(({ method }) => method === "tools/call").map(({ params }) => params.arguments);

async function proofFor(
  terms: GateTerms,
  decision: Decision,
  key: KeyObject = operator.privateKey,
  reason?: string,
) {
  return new SignJWT({ ...statementOf(terms, decision, reason) })
    .setProtectedHeader({ alg: "EdDSA", typ: "mcpx-proof+jwt" })
    .sign(key);
}

async function stopped(
  { ask }: Pick<TestTree, "ask">,
  name: string,
  args: JsonObject,
  more?: Partial<TestExchange>,
) {
  const result = await ask("tools/call", { name, arguments: args }, more);
  expect(result).not.toHaveProperty("isError");
  return result.structuredContent as JsonObject & GateTerms & { status: string };
}

test("[AX-11.3-1] [AX-11.3-4] [AX-11.3-7] what cannot be undone is not called, and says what it waits for", async () => {
  const tree = gated();
  const content = await stopped(tree, "s.wipe", { path: "/a" });
  expect(content).toMatchObject({
    status: "confirmation_required",
    confirmation_id: expect.any(String),
    tool: "s.wipe",
    arguments: { path: "/a" },
    annotation: { mutable: true, reversible: false },
    route: ["s", "wipe"],
    expires_at: expect.any(Number),
    approve_url: expect.stringContaining("/approve/"),
  });
  expect(called(tree.server)).toEqual([]);
  await tree.ask("tools/call", { name: "s.look" });
  await tree.ask("tools/call", { name: "s.mute" });
  expect(called(tree.server)).toHaveLength(2);
});

test("[AX-11.3-5] an operator's signature lets exactly that call go, once", async () => {
  const tree = gated();
  const args = { path: "/a", exact: 1 };
  const content = await stopped(tree, "s.wipe", args);
  const proof = await proofFor(content, "approve");
  const confirm = () => tree.ask("mcpax/confirm", { confirmation_id: content.confirmation_id, proof });
  expect((await confirm()).content).toMatchObject([{ type: "text" }]);
  expect(called(tree.server)).toEqual([args]);
  await expect(confirm()).rejects.toMatchObject({ code: "confirmation_used" });
  expect(called(tree.server)).toEqual([args]);
});

test("[AX-11.3-5] a hundred racers with the same proof: it happens once", async () => {
  const tree = gated();
  const content = await stopped(tree, "s.wipe", {});
  const proof = await proofFor(content, "approve");
  const { confirmation_id } = content;
  await Promise.allSettled(
    Array.from({ length: 100 }, () => tree.ask("mcpax/confirm", { confirmation_id, proof })),
  );
  expect(called(tree.server)).toHaveLength(1);
});

test("[AX-11.3-5] approved, rejected, asked again and waited for at the same moment: it happens once or not at all, as the decision that counts says", async () => {
  const tree = gated();
  const boss = { principal: { id: "boss" } };
  const outcomes = new Set<string>();
  for (let round = 0; round < 48; round += 1) {
    const args = { round };
    const content = await stopped(tree, "s.wipe", args);
    const { confirmation_id } = content;
    const confirmBy = async (decision: Decision) => {
      const proof = await proofFor(content, decision);
      return () => tree.ask("mcpax/confirm", { confirmation_id, proof }, boss);
    };
    const approve = await confirmBy("approve");
    const reject = await confirmBy("reject");
    const again = () => tree.ask("tools/call", { name: "s.wipe", arguments: args });
    const waits = () => tree.ask("tools/call", { name: "mcpax.wait", arguments: { confirmation_id } });
    const racers = [approve, reject, again, waits, approve, reject];
    const begun = racers.map((_, i) => (racers[(i * 5 + round) % racers.length] as () => Promise<unknown>)());
    await Promise.allSettled(begun);
    const gate = await tree.gates.store.find(confirmation_id);
    const calls = called(tree.server).filter((one) => (one as typeof args).round === round).length;
    outcomes.add(`${gate?.status}: called ${calls}`);
  }
  expect([...outcomes].sort()).toEqual(["done: called 1", "rejected: called 0"]);
});

test("[AX-11.3-1] asking again joins, and gets the result of what was approved meanwhile", async () => {
  const tree = gated();
  const first = await stopped(tree, "s.wipe", { n: 1 });
  const again = await stopped(tree, "s.wipe", { n: 1 });
  expect(again.confirmation_id).toBe(first.confirmation_id);
  expect((await stopped(tree, "s.wipe", { n: 2 })).confirmation_id).not.toBe(first.confirmation_id);
  const other = { principal: { id: "other" } };
  expect((await stopped(tree, "s.wipe", { n: 1 }, other)).confirmation_id).not.toBe(first.confirmation_id);
  const wait = () =>
    tree.ask("tools/call", { name: "mcpax.wait", arguments: { confirmation_id: first.confirmation_id } });
  expect(((await wait()).structuredContent as JsonObject).status).toBe("confirmation_required");
  const proof = await proofFor(first, "approve");
  const boss = { principal: { id: "boss" } };
  await tree.ask("mcpax/confirm", { confirmation_id: first.confirmation_id, proof }, boss);
  // The one who asked has not heard it yet, and hears it once; then the same call is a new one.
  expect((await wait()).content).toMatchObject([{ text: expect.stringContaining("wipe") }]);
  expect(called(tree.server)).toEqual([{ n: 1 }]);
  expect((await stopped(tree, "s.wipe", { n: 1 })).confirmation_id).not.toBe(first.confirmation_id);
  const foreign = tree.ask(
    "tools/call",
    { name: "mcpax.wait", arguments: { confirmation_id: first.confirmation_id } },
    other,
  );
  await expect(foreign).rejects.toMatchObject({ code: "confirmation_unknown" });
});

test("[AX-11.3-5] a call that is held gets the result as soon as it was approved", async () => {
  const tree = gated({ holdMs: 30_000 });
  const opened = Promise.withResolvers<string>();
  tree.gates.watchers.add({ opened: ({ id }) => opened.resolve(id) });
  const call = tree.ask("tools/call", { name: "s.wipe", arguments: { held: true } });
  const id = await opened.promise;
  const gate = await tree.gates.store.find(id);
  const { termsOf } = await import("./store/gate-store.ts");
  const proof = await proofFor(termsOf(gate as NonNullable<typeof gate>, "a1"), "approve");
  await tree.ask("mcpax/confirm", { confirmation_id: id, proof }, { principal: { id: "boss" } });
  expect(await call).toMatchObject({ content: [{ type: "text", text: expect.stringContaining("held") }] });
  expect(called(tree.server)).toEqual([{ held: true }]);
});

test("[AX-11.3-5] a rejection ends it, and the agent gets the reason", async () => {
  const tree = gated();
  const content = await stopped(tree, "s.wipe", {});
  const proof = await proofFor(content, "reject", undefined, "not on a Friday");
  const boss = { principal: { id: "boss" } };
  await tree.ask("mcpax/confirm", { confirmation_id: content.confirmation_id, proof }, boss);
  expect(await tree.ask("tools/call", { name: "s.wipe", arguments: {} })).toMatchObject({
    isError: true,
    content: [
      { type: "text", text: "Nothing has happened: operator has rejected this call: not on a Friday" },
    ],
    structuredContent: { status: "rejected", reason: "not on a Friday" },
  });
  expect(called(tree.server)).toEqual([]);
});

test("[AX-11.3-1] nobody decides: it expires, and nothing has happened", async () => {
  const clock = createManualClock();
  const tree = gated({ store: createSqliteGateStore({ db: openTreeState(), clock }) });
  const content = await stopped(tree, "s.wipe", {});
  clock.advance(300_000);
  const proof = await proofFor(content, "approve");
  await expect(
    tree.ask("mcpax/confirm", { confirmation_id: content.confirmation_id, proof }),
  ).rejects.toMatchObject({ code: "confirmation_expired" });
  expect(called(tree.server)).toEqual([]);
});

test("[AX-11.3-2] [AX-11.3-6] a proof by nobody we know, for another call, or by the caller itself lets nothing go", async () => {
  const tree = gated();
  const content = await stopped(tree, "s.wipe", { path: "/a" });
  const { confirmation_id } = content;
  const wrong = [
    await proofFor(content, "approve", stranger.privateKey),
    await proofFor({ ...content, tool: "s.look" }, "approve"),
    await proofFor({ ...content, arguments_digest: `sha256:${"A".repeat(43)}` }, "approve"),
    await proofFor({ ...content, nonce: "A".repeat(32) }, "approve"),
    await proofFor({ ...content, aggregator_id: "a2" }, "approve"),
    "nonsense",
  ];
  for (const proof of wrong) {
    await expect(tree.ask("mcpax/confirm", { confirmation_id, proof })).rejects.toMatchObject({
      code: "bad_proof",
    });
  }
  const key = operator.publicKey.export({ format: "jwk" }) as never;
  const own = await stopped(tree, "s.wipe", { path: "/b" }, { principal: { key } });
  const proof = await proofFor(own, "approve");
  await expect(
    tree.ask("mcpax/confirm", { confirmation_id: own.confirmation_id, proof }),
  ).rejects.toMatchObject({ code: "self_approval" });
  expect(called(tree.server)).toEqual([]);
});

test("[AX-11.3-5] wrong proofs for one call are limited, and keep nobody from deciding", async () => {
  const tree = gated();
  const content = await stopped(tree, "s.wipe", {});
  const { confirmation_id } = content;
  const attempts = await Promise.allSettled(
    Array.from({ length: 12 }, async () => tree.ask("mcpax/confirm", { confirmation_id, proof: "nonsense" })),
  );
  expect(attempts.every(({ status }) => status === "rejected")).toBe(true);
  await expect(tree.ask("mcpax/confirm", { confirmation_id, proof: "nonsense" })).rejects.toMatchObject({
    code: "rate_limited",
  });
  const proof = await proofFor(content, "approve");
  expect(await tree.ask("mcpax/confirm", { confirmation_id, proof })).toMatchObject({ content: [{}] });
  expect(called(tree.server)).toEqual([{}]);
});

test("[AX-11.3-3] [AX-11.3-8] a gate two hops below reaches the client, and its confirmation the gate", async () => {
  const bottom = gated({}, "b");
  const principal = callerOf().principal;
  const middle = testTree([serverOptions("b", openBelow(bottom.tree, principal), { isTrusted: true })], {
    segment: "m",
    hasParents: true,
    gates: gatesFor("a2", { rules: [{ tools: "**", action: "allow" }] }),
  });
  const top = testTree([serverOptions("m", openBelow(middle.tree, principal), { isTrusted: true })], {
    gates: gatesFor("a3", { rules: [{ tools: "**", action: "allow" }] }),
  });
  const content = await stopped(top, "m.b.s.wipe", { deep: 2 });
  expect(content).toMatchObject({ status: "confirmation_required", aggregator_id: "a1", tool: "s.wipe" });
  expect(called(bottom.server)).toEqual([]);
  const proof = await proofFor(content, "approve");
  const { confirmation_id } = content;
  expect(await top.ask("mcpax/confirm", { confirmation_id, proof })).toMatchObject({
    content: [{ type: "text" }],
  });
  expect(called(bottom.server)).toEqual([{ deep: 2 }]);
});

test("[AX-11.3-3] [AX-11.3-8] two hops have a gate each: each wants its own proof, and neither counts at the other", async () => {
  const bottom = gated({}, "b");
  const principal = callerOf().principal;
  const gates = gatesFor("top", { rules: [{ tools: "b.s.wipe", action: "ask" }] });
  const top = testTree([serverOptions("b", openBelow(bottom.tree, principal), { isTrusted: true })], {
    gates,
  });
  const boss = { principal: { id: "boss" } };
  const confirm = (id: string, proof: string) =>
    top.ask("mcpax/confirm", { confirmation_id: id, proof }, boss);
  const first = await stopped(top, "b.s.wipe", { deep: 1 });
  expect(first.aggregator_id).toBe("top");
  const upper = await proofFor(first, "approve");
  // Let go above, it stops below, and nothing has happened.
  await confirm(first.confirmation_id, upper);
  expect(called(bottom.server)).toEqual([]);
  const second = await stopped(top, "b.s.wipe", { deep: 1 });
  expect(second).toMatchObject({ aggregator_id: "a1", tool: "s.wipe", asker: "agent/agent" });
  await expect(confirm(second.confirmation_id, upper)).rejects.toMatchObject({ code: "bad_proof" });
  expect(called(bottom.server)).toEqual([]);
  const lower = await proofFor(second, "approve");
  await expect(confirm(first.confirmation_id, lower)).rejects.toMatchObject({ code: "bad_proof" });
  await confirm(second.confirmation_id, lower);
  expect(called(bottom.server)).toEqual([{ deep: 1 }]);
});

test("[AX-11.3-3] any hop may add a gate to a call that none below stops", async () => {
  const bottom = gated({ rules: [{ tools: "**", action: "allow" }] }, "b");
  const principal = callerOf().principal;
  const gates = gatesFor("top", { rules: [{ tools: "b.s.look", action: "ask" }] });
  const top = testTree([serverOptions("b", openBelow(bottom.tree, principal), { isTrusted: true })], {
    gates,
  });
  const content = await stopped(top, "b.s.look", {});
  expect(content.aggregator_id).toBe("top");
  expect(called(bottom.server)).toEqual([]);
});

// One proof that names the gates of two trees: each takes its own part of it, once, for this very call.
import { generateKeyPairSync, type KeyPairKeyObjectResult } from "node:crypto";
import { type AuditEvent, createManualClock, signDecision, thumbprint } from "@mcpx/host";
import {
  type GateTerms,
  gatesAheadMethod,
  type JsonObject,
  jointStatementOf,
  roomMethods,
  statementOf,
} from "@mcpx/protocol";
import { expect, test } from "vitest";
import { createGatekeeper, type Gatekeeper, type GateOptions } from "../gates/gatekeeper.ts";
import { anchorKeys } from "../gates/proofs/anchors.ts";
import { createSqliteGateStore } from "../gates/store/gate-store-sqlite.ts";
import { treeExtension } from "../mcp/era.ts";
import { type InProcessServer, inProcessServer, serverOptions } from "../testing/in-process-server.ts";
import { openBelow } from "../testing/nested.ts";
import { openTreeState } from "../testing/open-tree-state.ts";
import { overridesOf } from "../testing/overrides-of.ts";
import { callerOf, type TestTree, testTree } from "../testing/test-tree.ts";

type Key = KeyPairKeyObjectResult;
const operator = generateKeyPairSync("ed25519");
const second = generateKeyPairSync("ed25519");
const jwkOf = ({ publicKey }: Key) => publicKey.export({ format: "jwk" }) as never;
const anchors = anchorKeys([
  { kind: "key", name: "operator", jwk: jwkOf(operator) },
  { kind: "key", name: "second", jwk: jwkOf(second) },
]);

interface Hop extends TestTree {
  gates: Gatekeeper;
  events: AuditEvent[];
}

const asking = [{ tools: "**", action: "ask" }] as const;
const allowing = [{ tools: "**", action: "allow" }] as const;

function hop(
  id: string,
  servers: Parameters<typeof testTree>[0],
  options: Partial<GateOptions>,
  segment?: string,
) {
  const events: AuditEvent[] = [];
  const gates = createGatekeeper({
    aggregatorId: id,
    store: createSqliteGateStore({ db: openTreeState(), clock: createManualClock() }),
    rules: [...asking],
    unannotated: "ask",
    anchors,
    holdMs: 0,
    holdWithProgressMs: 0,
    approveUrl: (gate) => `http://127.0.0.1/approve/${gate}`,
    ...options,
  });
  const record = (event: AuditEvent) => {
    events.push(event);
    return true;
  };
  const tree = testTree(servers, {
    gates,
    audit: { record, recordNow: record, flush: () => true } as never,
    ...(segment && { segment, hasParents: true }),
  });
  return { ...tree, gates, events };
}

interface Scene {
  top: Hop;
  bottom: Hop;
  server: InProcessServer;
  arrived(): unknown[];
}

interface SceneOptions {
  top?: Partial<GateOptions>;
  bottom?: Partial<GateOptions>;
  /** Arguments that the tree below fixes. */
  fixed?: JsonObject;
}

const principal = callerOf().principal;
const below = (name: string, { tree }: TestTree) =>
  serverOptions(name, openBelow(tree, principal), { isTrusted: true });

function twoHops({ top = {}, bottom = {}, fixed }: SceneOptions = {}): Scene {
  const server = inProcessServer({ tools: [{ name: "wipe", inputSchema: { type: "object" } }] });
  const overrides = fixed && { overrides: overridesOf({ wipe: { arguments: fixed } }) };
  const lower = hop("low", [serverOptions("s", server.open, { isTrusted: true, ...overrides })], bottom, "b");
  return {
    top: hop("top", [below("b", lower)], top),
    bottom: lower,
    server,
    arrived: () => arrivedAt(server),
  };
}

const arrivedAt = ({ asked }: InProcessServer) =>
  asked.filter(({ method }) => method === "tools/call").map(({ params }) => params.arguments);

type Waiting = JsonObject & GateTerms & { below?: GateTerms[] };

async function call({ ask }: Pick<TestTree, "ask">, name = "b.s.wipe", args: JsonObject = { n: 1 }) {
  return (await ask("tools/call", { name, arguments: args })).structuredContent as Waiting;
}

const joint = (gates: readonly GateTerms[], key: Key = operator) =>
  signDecision(jointStatementOf(gates), key.privateKey, thumbprint(jwkOf(key)));
const forgeable = (payload: object) =>
  signDecision(payload as never, operator.privateKey, thumbprint(jwkOf(operator)));
const boss = { principal: { id: "boss" } };
const confirm = ({ ask }: TestTree, { confirmation_id }: GateTerms, proof: string) =>
  ask(roomMethods.confirmGate, { confirmation_id, proof }, boss);
const decisionsIn = ({ events }: Hop) =>
  events
    .filter(({ action }) => action === "gate.approve")
    .map(({ actor, detail }) => [actor, (detail as JsonObject).gate]);

test("[AX-11.3-8] one proof that names the gates of both hops lets the call through both, once", async () => {
  const scene = twoHops();
  const first = await call(scene.top);
  const [lower] = first.below ?? [];
  expect(first).toMatchObject({ aggregator_id: "top", asker: "agent", below: [{}] });
  expect(lower).toMatchObject({ aggregator_id: "low", asker: "agent/agent", tool: "s.wipe", version: 2 });
  const proof = await joint([first, ...(first.below ?? [])]);
  expect(await confirm(scene.top, first, proof)).toMatchObject({ content: [{ type: "text" }] });
  expect(scene.arrived()).toEqual([{ n: 1 }]);
  // Each in its own books, under its own id.
  expect(decisionsIn(scene.top)).toEqual([["operator", first.confirmation_id]]);
  expect(decisionsIn(scene.bottom)).toEqual([["operator", lower?.confirmation_id]]);
  await expect(confirm(scene.top, first, proof)).rejects.toMatchObject({ code: "confirmation_used" });
  await expect(confirm(scene.bottom, lower as GateTerms, proof)).rejects.toMatchObject({
    code: "confirmation_used",
  });
  expect(scene.arrived()).toHaveLength(1);
});

test("[AX-11.3-8] a proof for the first gate alone still stops at the second", async () => {
  const scene = twoHops();
  const first = await call(scene.top);
  const proof = await forgeable(statementOf(first, "approve"));
  expect(await confirm(scene.top, first, proof)).toMatchObject({
    structuredContent: { status: "confirmation_required", aggregator_id: "low" },
  });
  expect(scene.arrived()).toEqual([]);
});

test("[AX-11.3-8] before the call comes nothing waits below, and the proof is good for nothing there", async () => {
  const scene = twoHops();
  const first = await call(scene.top);
  const [lower] = first.below as [GateTerms];
  expect(await scene.bottom.gates.store.list()).toEqual([]);
  const proof = await joint([first, lower]);
  await expect(confirm(scene.bottom, lower, proof)).rejects.toMatchObject({ code: "confirmation_unknown" });
  await expect(confirm(scene.top, lower, proof)).rejects.toMatchObject({ code: "confirmation_unknown" });
  expect(scene.arrived()).toEqual([]);
  await confirm(scene.top, first, proof);
  expect(scene.arrived()).toEqual([{ n: 1 }]);
});

const route = { "x-mcpax-route": ["b", "s", "wipe"], "x-mcpax-cursor": 0 };

/** What the tree above may send to the one below. */
function fromAbove({ bottom }: Scene, proofs: readonly string[], n = 1) {
  const caller = {
    isParent: true,
    ownSegment: "b",
    asker: { name: "agent/agent", keys: [] },
    proofs,
  };
  return bottom.ask("tools/call", { name: "s.wipe", arguments: { n }, _meta: route }, { caller });
}

test("[AX-11.3-8] a tree above that sends the call and the proof again gets a new gate", async () => {
  const scene = twoHops();
  const first = await call(scene.top);
  const proof = await joint([first, ...(first.below ?? [])]);
  await confirm(scene.top, first, proof);
  expect(scene.arrived()).toHaveLength(1);
  for (let again = 0; again < 3; again += 1) {
    const { structuredContent } = await fromAbove(scene, [proof]);
    expect(structuredContent).toMatchObject({ status: "confirmation_required", aggregator_id: "low" });
  }
  expect(scene.arrived()).toHaveLength(1);
});

test("[AX-11.3-8] racing calls with one proof: one goes through", async () => {
  const scene = twoHops();
  const first = await call(scene.top);
  const proof = await joint([first, ...(first.below ?? [])]);
  await Promise.all(Array.from({ length: 20 }, () => fromAbove(scene, [proof])));
  expect(scene.arrived()).toHaveLength(1);
});

test("[AX-11.3-8] the proof does not count for other arguments below", async () => {
  const scene = twoHops();
  const first = await call(scene.top);
  const proof = await joint([first, ...(first.below ?? [])]);
  const { structuredContent } = await fromAbove(scene, [proof], 2);
  expect(structuredContent).toMatchObject({ status: "confirmation_required", aggregator_id: "low" });
  expect(scene.arrived()).toEqual([]);
});

test("[AX-11.3-8] who is not the tree above neither asks for gates nor brings proofs with a call", async () => {
  const scene = twoHops();
  const params = { name: "s.wipe", arguments: { n: 1 } };
  await expect(scene.bottom.ask(gatesAheadMethod, params)).rejects.toMatchObject({ code: "unknown_method" });
  const first = await call(scene.top);
  const proof = await joint([first, ...(first.below ?? [])]);
  const _meta = { "x-mcpax-proofs": [proof] };
  expect(await scene.top.ask("tools/call", { name: "b.s.wipe", arguments: { n: 1 }, _meta })).toMatchObject({
    structuredContent: { status: "confirmation_required", aggregator_id: "top" },
  });
  expect(scene.arrived()).toEqual([]);
});

interface Wrong {
  what: string;
  payload(first: GateTerms, lower: GateTerms, other: GateTerms): object;
}

const version = 3;
const decision = "approve";
const wrong: Wrong[] = [
  { what: "the order is swapped", payload: (first, lower) => ({ version, decision, gates: [lower, first] }) },
  { what: "one gate is left out", payload: (first) => ({ version, decision, gates: [first] }) },
  { what: "one gate stands twice", payload: (first) => ({ version, decision, gates: [first, first] }) },
  {
    what: "one gate's arguments are others",
    payload: (first, lower, other) => ({
      version,
      decision,
      gates: [first, { ...lower, arguments_digest: other.arguments_digest }],
    }),
  },
  {
    what: "one gate is of another call",
    payload: (first, _, other) => ({ version, decision, gates: [first, other] }),
  },
  {
    what: "one gate is of another asker",
    payload: (first, lower) => ({ version, decision, gates: [first, { ...lower, asker: "low/mallory" }] }),
  },
  {
    what: "one gate is on another route",
    payload: (first, lower) => ({
      version,
      decision,
      gates: [first, { ...lower, route: ["x", "s", "wipe"] }],
    }),
  },
  { what: "it rejects", payload: (first, lower) => ({ version, decision: "reject", gates: [first, lower] }) },
  { what: "it says version 2", payload: (first, lower) => ({ version: 2, decision, gates: [first, lower] }) },
  {
    what: "it has another field",
    payload: (first, lower) => ({ version, decision, gates: [first, lower], phase: "result" }),
  },
  {
    what: "it is also a statement of one gate",
    payload: (first, lower) => ({ ...statementOf(first, "approve"), gates: [first, lower] }),
  },
];

const plain = ({
  confirmation_id,
  aggregator_id,
  route,
  tool,
  arguments_digest,
  nonce,
  ...rest
}: GateTerms) => ({
  ...{ confirmation_id, aggregator_id, route, tool, arguments_digest, nonce },
  ...{ version: rest.version, asker: rest.asker, server: rest.server, expires_at: rest.expires_at },
});

test.each(wrong)("[AX-11.3-8] [AX-11.3-2] no proof for several gates: $what", async ({ payload }) => {
  const scene = twoHops();
  const first = await call(scene.top);
  const other = await call(scene.top, "b.s.wipe", { n: 2 });
  const [lower] = first.below as [GateTerms];
  const proof = await forgeable(payload(plain(first), lower, (other.below as [GateTerms])[0]));
  await expect(confirm(scene.top, first, proof)).rejects.toMatchObject({ code: "bad_proof" });
  await fromAbove(scene, [proof]);
  expect(scene.arrived()).toEqual([]);
});

test.each(["server", "nonce", "expires_at"] as const)(
  "[AX-11.3-8] each gate looks at its own part: %s of the gate below is another",
  async (field) => {
    const scene = twoHops();
    const first = await call(scene.top);
    const [lower] = first.below as [GateTerms];
    const value = { server: first.server, nonce: first.nonce.split("").reverse().join(""), expires_at: 1 };
    const proof = await joint([first, { ...lower, [field]: value[field] }]);
    const { structuredContent } = await confirm(scene.top, first, proof);
    expect(structuredContent).toMatchObject({ status: "confirmation_required", aggregator_id: "low" });
    expect(scene.arrived()).toEqual([]);
  },
);

test("[AX-11.3-8] no gate below is named where the tree below would send other arguments", async () => {
  const scene = twoHops({ fixed: { to: "B" } });
  const first = await call(scene.top);
  expect(first.below).toBeUndefined();
  const { structuredContent } = await confirm(
    scene.top,
    first,
    await forgeable(statementOf(first, "approve")),
  );
  expect(structuredContent).toMatchObject({ aggregator_id: "low", arguments: { n: 1, to: "B" } });
  expect(scene.arrived()).toEqual([]);
});

test("[AX-11.3-8] a gate below that is gone by then does not stop the call, and one that is late is a new one", async () => {
  const rules: { tools: string; action: "ask" | "allow" }[] = [...asking];
  const gone = twoHops({ bottom: { rules } });
  const first = await call(gone.top);
  rules[0] = { tools: "**", action: "allow" };
  await confirm(gone.top, first, await joint([first, ...(first.below ?? [])]));
  expect(gone.arrived()).toEqual([{ n: 1 }]);

  const late = twoHops();
  const waiting = await call(late.top);
  late.bottom.clock.advance(301_000);
  const { structuredContent } = await confirm(
    late.top,
    waiting,
    await joint([waiting, ...(waiting.below ?? [])]),
  );
  expect(structuredContent).toMatchObject({ status: "confirmation_required", aggregator_id: "low" });
  expect(structuredContent).not.toMatchObject({ confirmation_id: waiting.below?.[0]?.confirmation_id });
  expect(late.arrived()).toEqual([]);
});

test("[AX-11.3-8] a proof that has expired above lets nothing go at either gate", async () => {
  const clock = createManualClock();
  const scene = twoHops({ top: { store: createSqliteGateStore({ db: openTreeState(), clock }) } });
  const first = await call(scene.top);
  const proof = await joint([first, ...(first.below ?? [])]);
  clock.advance(301_000);
  await expect(confirm(scene.top, first, proof)).rejects.toMatchObject({ code: "confirmation_expired" });
  expect(scene.arrived()).toEqual([]);
});

test("[AX-11.3-8] a key that is no anchor below: the call waits there for one that is, with all of its time", async () => {
  const scene = twoHops({
    bottom: { anchors: anchorKeys([{ kind: "key", name: "second", jwk: jwkOf(second) }]) },
  });
  const first = await call(scene.top);
  scene.bottom.clock.advance(200_000);
  const answer = await confirm(scene.top, first, await joint([first, ...(first.below ?? [])]));
  const waiting = answer.structuredContent as Waiting;
  expect(waiting).toMatchObject({ status: "confirmation_required", aggregator_id: "low" });
  expect(waiting.confirmation_id).not.toBe(first.below?.[0]?.confirmation_id);
  expect(scene.arrived()).toEqual([]);
  const refused = scene.bottom.events.filter(({ action }) => action === "gate.proof");
  expect(refused).toMatchObject([{ reason: "bad_proof" }]);
  const proof = await signDecision(
    statementOf(waiting, "approve"),
    second.privateKey,
    thumbprint(jwkOf(second)),
  );
  await confirm(scene.top, waiting, proof);
  expect(scene.arrived()).toEqual([{ n: 1 }]);
});

test("[AX-11.3-6] [AX-11.3-8] the asker's own key counts at neither gate", async () => {
  const scene = twoHops();
  const own = { principal: { key: jwkOf(operator) } };
  const { structuredContent } = await scene.top.ask("tools/call", { name: "b.s.wipe", arguments: {} }, own);
  const first = structuredContent as Waiting;
  const proof = await joint([first, ...(first.below ?? [])]);
  await expect(confirm(scene.top, first, proof)).rejects.toMatchObject({ code: "self_approval" });
  expect(scene.arrived()).toEqual([]);
});

test("[AX-11.3-8] where two must approve below, both proofs go down with the call", async () => {
  const scene = twoHops({ top: { quorum: 2 }, bottom: { quorum: 2 } });
  const first = await call(scene.top);
  const gates = [first, ...(first.below ?? [])];
  expect(await confirm(scene.top, first, await joint(gates))).toMatchObject({
    structuredContent: { approvals: 1, approvers: 2 },
  });
  expect(scene.arrived()).toEqual([]);
  await confirm(scene.top, first, await joint(gates, second));
  expect(scene.arrived()).toEqual([{ n: 1 }]);
  expect(decisionsIn(scene.bottom)).toHaveLength(2);
});

test("[AX-11.3-8] where two must approve below and one has, the call waits for the other", async () => {
  const scene = twoHops({ bottom: { quorum: 2 } });
  const first = await call(scene.top);
  const { structuredContent } = await confirm(scene.top, first, await joint([first, ...(first.below ?? [])]));
  const waiting = structuredContent as Waiting;
  expect(waiting).toMatchObject({ confirmation_id: first.below?.[0]?.confirmation_id });
  expect(scene.arrived()).toEqual([]);
  const proof = await signDecision(
    statementOf(waiting, "approve"),
    second.privateKey,
    thumbprint(jwkOf(second)),
  );
  await confirm(scene.top, waiting, proof);
  expect(scene.arrived()).toEqual([{ n: 1 }]);
});

test.each([
  { middle: "has no gate", rules: [...allowing], gates: ["top", "low"] },
  { middle: "has a gate", rules: [...asking], gates: ["top", "mid", "low"] },
])("[AX-11.3-8] three trees, and the one between $middle", async ({ rules, gates }) => {
  const server = inProcessServer({ tools: [{ name: "wipe", inputSchema: { type: "object" } }] });
  const bottom = hop("low", [serverOptions("s", server.open, { isTrusted: true })], {}, "b");
  const middle = hop("mid", [below("b", bottom)], { rules }, "m");
  const top = hop("top", [below("m", middle)], {});
  const first = await call(top, "m.b.s.wipe");
  const named = [first, ...(first.below ?? [])];
  expect(named.map(({ aggregator_id }) => aggregator_id)).toEqual(gates);
  await confirm(top, first, await joint(named));
  expect(arrivedAt(server)).toEqual([{ n: 1 }]);
});

const dotted = { name: "s.wipe", inputSchema: { type: "object" } };

function answers(method: string, gates: unknown): JsonObject {
  if (method === "tools/list") return { tools: [dotted] };
  return method === gatesAheadMethod ? { gates } : { content: [] };
}

test("[AX-11.3-8] a tree below that tells gates of other calls gets no signature for them", async () => {
  const honest = twoHops();
  const real = (await call(honest.top)).below as GateTerms[];
  const lies: unknown[] = [
    real,
    real.map((gate) => ({
      ...gate,
      route: ["liar", "s", "wipe"],
      arguments_digest: `sha256:${"A".repeat(43)}`,
    })),
    real.map((gate) => ({ ...gate, asker: "low/somebody" })),
    "gates",
    [{}],
    Array.from({ length: 5 }, () => real[0]),
  ];
  for (const told of lies) {
    const liar = inProcessServer({
      capabilities: { extensions: { [treeExtension]: {} } },
      handle: ({ method }) => answers(method, told),
    });
    const top = hop("top", [serverOptions("liar", liar.open, { isTrusted: true })], {});
    const waiting = await call(top, "liar.s.wipe");
    expect(liar.asked.some(({ method }) => method === gatesAheadMethod)).toBe(true);
    expect(waiting).toMatchObject({ status: "confirmation_required", aggregator_id: "top" });
    expect(waiting.below).toBeUndefined();
  }
});

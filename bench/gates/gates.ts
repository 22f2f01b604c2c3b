// What gates cost: the check of a call that needs none, ten thousand that wait, and the time from a decision to its call.
import { generateKeyPairSync } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  anchorKeys,
  createGatekeeper,
  type Gatekeeper,
  openSqliteTreeStores,
  type Rule,
} from "@mcpx/aggregator";
import { type PublicJwk, signDecision, systemClock, thumbprint } from "@mcpx/host";
import { type GateTerms, type JsonObject, statementOf } from "@mcpx/protocol";
import { inProcessServer, serverOptions } from "../../packages/aggregator/src/testing/in-process-server.ts";
import { type TestTree, testTree } from "../../packages/aggregator/src/testing/test-tree.ts";
import { percentile } from "../rooms/load.ts";
import { sized } from "../sizes.ts";

const rounds = sized(9, 2);
const warmUpRounds = sized(3, 1);
const callsPerRound = sized(10_000, 100);
const rulesCount = 50;
const waiting = sized(10_000, 40);
const perPrincipal = 20;
const decisions = sized(200, 5);
const goals = { checkUs: 20, decisionMs: 50 };
const tools = [
  { name: "look", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } },
  { name: "wipe", inputSchema: { type: "object" }, annotations: { destructiveHint: true } },
];
const operator = generateKeyPairSync("ed25519");
const kid = thumbprint(operator.publicKey.export({ format: "jwk" }) as PublicJwk);

export async function benchGates(note: (line: string) => void): Promise<Record<string, unknown>> {
  const dir = mkdtempSync(join(tmpdir(), "mcpx-bench-gates-"));
  try {
    note("gates: calls that need none");
    const check = await measureCheck(dir);
    note(`gates: ${waiting} that wait`);
    const pending = await measurePending(dir);
    note("gates: decisions");
    const decision = await measureDecisions(dir);
    return { check, pending, decision };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

function gatesIn(dir: string, name: string, rules: readonly Rule[] = []): Gatekeeper {
  const stores = openSqliteTreeStores(join(dir, name));
  return createGatekeeper({
    aggregatorId: "bench",
    store: stores.gates({ clock: systemClock }),
    rules,
    unannotated: "ask",
    anchors: anchorKeys([
      { kind: "key", name: "operator", jwk: operator.publicKey.export({ format: "jwk" }) },
    ]),
    holdMs: 0,
    approveUrl: (id) => `http://127.0.0.1/approve/${id}`,
  });
}

function treeWith(gates: Gatekeeper | undefined, onCall: () => void = () => {}): TestTree {
  const server = inProcessServer({
    tools,
    handle({ method }) {
      if (method === "tools/call") onCall();
      return undefined as never;
    },
  });
  return testTree([serverOptions("s", server.open, { isTrusted: true })], { gates, isRealTime: true });
}

/** Of the same call in a tree without gates, with gates, and with rules that do not match, in turns. */
async function measureCheck(dir: string): Promise<object> {
  const rules = Array.from(
    { length: rulesCount },
    (_, i): Rule => ({ tools: `other${i}.**`, action: "deny" }),
  );
  const trees = {
    none: treeWith(undefined),
    gates: treeWith(gatesIn(dir, "check")),
    rules: treeWith(gatesIn(dir, "rules", rules)),
  };
  const us: Record<keyof typeof trees, number[]> = { none: [], gates: [], rules: [] };
  const args = { path: "/srv/notes/today.md", depth: 3, tags: ["a", "b"] };
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, { ask }] of Object.entries(trees) as [keyof typeof trees, TestTree][]) {
      const before = process.cpuUsage();
      for (let i = 0; i < callsPerRound; i += 1) await ask("tools/call", { name: "s.look", arguments: args });
      const { user, system } = process.cpuUsage(before);
      us[name].push((user + system) / callsPerRound);
    }
  }
  // The first rounds are warm-up.
  const cost = (name: keyof typeof trees) => percentile(us[name].slice(warmUpRounds).toSorted(ascending), 50);
  const [none, gates, ruled] = [cost("none"), cost("gates"), cost("rules")];
  return {
    callUs: { none: round2(none), gates: round2(gates), [`rules${rulesCount}`]: round2(ruled) },
    checkUs: round2(gates - none),
    checkWithRulesUs: round2(ruled - none),
    ratio: {
      check_vs_goal: round2((gates - none) / goals.checkUs),
      rules_vs_goal: round2((ruled - none) / goals.checkUs),
    },
  };
}

async function measurePending(dir: string): Promise<object> {
  const gates = gatesIn(dir, "pending");
  const { ask } = treeWith(gates);
  const before = await heapBytes();
  const startedAt = performance.now();
  for (let i = 0; i < waiting; i += 1) {
    const principal = { id: `agent${Math.floor(i / perPrincipal)}` };
    await ask("tools/call", { name: "s.wipe", arguments: { path: `/srv/${i}` } }, { principal });
  }
  const openMs = (performance.now() - startedAt) / waiting;
  const heap = (await heapBytes()) - before;
  const refused = await ask(
    "tools/call",
    { name: "s.wipe", arguments: { more: 1 } },
    { principal: { id: "one-more" } },
  ).then(
    () => "taken",
    (error: { code?: string }) => error.code,
  );
  return { waiting, openMs: round2(openMs), heapBytesEach: Math.round(heap / waiting), oneMore: refused };
}

/** From the proof's arrival to the call's at its server. */
async function measureDecisions(dir: string): Promise<object> {
  let calledAt = 0;
  const { ask } = treeWith(gatesIn(dir, "decisions"), () => {
    calledAt = performance.now();
  });
  const times: number[] = [];
  for (let i = 0; i < decisions; i += 1) {
    const call = await ask("tools/call", { name: "s.wipe", arguments: { i } });
    const terms = call.structuredContent as JsonObject & GateTerms;
    const proof = await signDecision(statementOf(terms, "approve"), operator.privateKey, kid);
    const { confirmation_id } = terms;
    const startedAt = performance.now();
    await ask("mcpax/confirm", { confirmation_id, proof });
    times.push(calledAt - startedAt);
  }
  const sorted = times.toSorted(ascending);
  const p50Ms = percentile(sorted, 50);
  const p99Ms = percentile(sorted, 99);
  return {
    p50Ms: round2(p50Ms),
    p99Ms: round2(p99Ms),
    ratio: { p99_vs_goal: round2(p99Ms / goals.decisionMs) },
  };
}

async function heapBytes(): Promise<number> {
  for (let i = 0; i < 3; i += 1) globalThis.gc?.();
  return process.memoryUsage().heapUsed;
}

function ascending(a: number, b: number): number {
  return a - b;
}

function round2(value: number): number {
  return Math.round(value * 100) / 100;
}

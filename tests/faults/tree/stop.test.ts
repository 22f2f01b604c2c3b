// SIGSTOP: processes that are there and say nothing, for longer than any deadline, and then go on as if nothing had
// happened. Their sockets stay open all the while.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { fairNow } from "../../support/fair-now.ts";
import { timeout } from "../support/soak.ts";
import { type Family, nodeHeartbeatMs, startFamily } from "./support/family.ts";
import type { LeafProcess } from "./support/leaf-process.ts";
import { callOnce, expectDocumented, expectHonest, startTraffic } from "./support/traffic.ts";
import type { TreeNode } from "./support/tree-node.ts";
import { expectTruth, msUntilDegraded } from "./support/truth.ts";

const leafHeartbeatMs = 500;
/** Of those who are not stopped: a busy machine is no fault of theirs. */
const calmMs = 5_000;

let family: Family;
let root: TreeNode;
let mid: TreeNode;
let stopped: LeafProcess;
let living: LeafProcess;
const numbered = (name: string, count: number) =>
  Array.from({ length: count }, (_, n) => `${name}-${String(n).padStart(2, "0")}`);
const slow = numbered("slow", 25);
const quick = numbered("quick", 25);
const toolsOf = (prefix: string, segments: readonly string[]) =>
  segments.map((segment) => `${prefix}${segment}.work`);
const all = [...toolsOf("mid.", quick), ...toolsOf("mid.", slow)];

beforeAll(async () => {
  family = await startFamily();
  ({ root } = family);
  mid = await family.node(root, "mid");
  [stopped, living] = await Promise.all([
    family.leaves(mid, slow, { heartbeatMs: leafHeartbeatMs }),
    family.leaves(mid, quick, { heartbeatMs: calmMs }),
  ]);
}, timeout);

afterAll(() => family.close());

beforeEach(() => family.heal(all), timeout);

test("[AX-13.3-2] [AX-6.3-1] half of fifty stop: degraded at every ancestor within three heartbeats, and no call to the others waits", {
  timeout,
}, async () => {
  const others = startTraffic(root.place, toolsOf("mid.", quick.slice(0, 4)));
  const theirs = startTraffic(root.place, toolsOf("mid.", slow.slice(0, 4)));
  await expect.poll(() => Math.min(others.outcomes.length, theirs.outcomes.length)).toBeGreaterThan(20);
  const stoppedAt = performance.now();
  const began = fairNow();
  stopped.freeze();
  const took = await Promise.all([
    msUntilDegraded(mid.place, toolsOf("", slow), began),
    msUntilDegraded(root.place, toolsOf("mid.", slow), began),
  ]);
  expect(Math.max(...took)).toBeLessThan(3 * leafHeartbeatMs);
  const degraded = await callOnce(root.place, toolsOf("mid.", slow)[7] as string);
  expect(degraded).toMatchObject({ what: "subserver_unreachable" });
  // What was under way when they stopped is told that nobody will answer, long before its time is over.
  await expect.poll(() => theirs.outcomes.filter(({ what }) => what === "server_lost").length).toBe(4);
  const meanwhile = others.since(stoppedAt);
  expect(meanwhile.length).toBeGreaterThan(20);
  expect(meanwhile.filter(({ what }) => what !== "ok")).toEqual([]);
  expect(percentile95(meanwhile.map(({ ms }) => ms))).toBeLessThan(leafHeartbeatMs);
  stopped.thaw();
  await expectTruth(root.place, all);
  const outcomes = [...(await others.stop()), ...(await theirs.stop())];
  expectDocumented(outcomes);
  expectHonest(outcomes, [...stopped.effects, ...living.effects]);
});

test("[AX-13.3-1] [AX-13.3-2] a whole aggregator stops and goes on: its subtree is degraded in time, and itself again", {
  timeout,
}, async () => {
  const traffic = startTraffic(root.place, all.slice(0, 4));
  await expect.poll(() => traffic.outcomes.length).toBeGreaterThan(20);
  const stoppedAt = performance.now();
  const began = fairNow();
  mid.freeze();
  expect(await msUntilDegraded(root.place, all, began)).toBeLessThan(3 * nodeHeartbeatMs);
  // Longer than the deadline of everybody.
  await expect.poll(() => performance.now() - stoppedAt).toBeGreaterThan(3.2 * nodeHeartbeatMs);
  mid.thaw();
  await expectTruth(root.place, all);
  const outcomes = await traffic.stop();
  expectDocumented(outcomes);
  expectHonest(outcomes, living.effects);
});

function percentile95(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * 0.95)] as number;
}

// kill -9 of every part of a tree while a client calls everything: a leaf, the aggregator above it, the one below the
// root, the root itself.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type LeafProcess, startLeaves } from "./support/leaf-process.ts";
import { callOnce, expectDocumented, startTraffic } from "./support/traffic.ts";
import { startNode, type TreeNode } from "./support/tree-node.ts";
import { expectTruth, msUntilDegraded, shown } from "./support/truth.ts";

const heartbeatMs = 400;
/** Of aggregators: the shortest a configuration can say. */
const heartbeat = "1s";
const started: { kill(): Promise<void>; remove?(): Promise<void> }[] = [];

let root: TreeNode;
let mid: TreeNode;
let low: TreeNode;
let oven: LeafProcess;
let lamps: LeafProcess;
const all = ["mid.lamp-a.work", "mid.lamp-b.work", "mid.low.oven.work"];

async function below(parent: TreeNode, segment: string): Promise<TreeNode> {
  const [token = ""] = await parent.tokensFor([segment]);
  return startNode([{ url: parent.url, segment, token, heartbeat }]);
}

beforeAll(async () => {
  root = await startNode();
  started.push(root);
  mid = await below(root, "mid");
  started.push(mid);
  low = await below(mid, "low");
  started.push(low);
  oven = await startLeaves(low, ["oven"], { heartbeatMs });
  started.push(oven);
  lamps = await startLeaves(mid, ["lamp-a", "lamp-b"], { heartbeatMs });
  started.push(lamps);
  await expectTruth(root.place, all);
}, 60_000);

afterAll(async () => {
  for (const one of started.toReversed()) await (one.remove ?? one.kill).call(one);
});

test("[AX-13.1-1] [AX-13.2-1] a leaf dies: the others notice nothing, and it comes back", async () => {
  const traffic = startTraffic(root.place, all);
  await expect.poll(() => traffic.outcomes.length).toBeGreaterThan(10);
  const killedAt = performance.now();
  await oven.kill();
  // Its connection is gone: at once, and at every ancestor.
  const ms = await Promise.all([
    msUntilDegraded(low.place, ["oven.work"], killedAt),
    msUntilDegraded(mid.place, ["low.oven.work"], killedAt),
    msUntilDegraded(root.place, ["mid.low.oven.work"], killedAt),
  ]);
  expect(Math.max(...ms)).toBeLessThan(2 * heartbeatMs);
  expect(await callOnce(root.place, "mid.low.oven.work")).toMatchObject({ what: "subserver_unreachable" });
  await oven.revive();
  await expectTruth(root.place, all);
  const outcomes = await traffic.stop();
  expectDocumented(outcomes);
  expect(
    traffic.since(0, ["mid.lamp-a.work", "mid.lamp-b.work"]).filter(({ what }) => what !== "ok"),
  ).toEqual([]);
  // Control: the fault was seen by those who called it.
  expect(outcomes.some(({ what }) => what === "subserver_unreachable")).toBe(true);
});

test("[AX-13.3-1] [AX-13.3-2] a middle aggregator dies: its whole subtree is degraded at once, and returns", async () => {
  const traffic = startTraffic(root.place, all);
  await expect.poll(() => traffic.outcomes.length).toBeGreaterThan(10);
  const killedAt = performance.now();
  await low.kill();
  const ms = await Promise.all([
    msUntilDegraded(mid.place, ["low.oven.work"], killedAt),
    msUntilDegraded(root.place, ["mid.low.oven.work"], killedAt),
  ]);
  expect(Math.max(...ms)).toBeLessThan(2 * heartbeatMs);
  await low.revive();
  await expectTruth(root.place, all);
  expectDocumented(await traffic.stop());
});

test("[AX-13.3-1] the root's only child dies: all is degraded, and all of it returns", async () => {
  const traffic = startTraffic(root.place, all);
  await expect.poll(() => traffic.outcomes.length).toBeGreaterThan(10);
  const killedAt = performance.now();
  await mid.kill();
  expect(await msUntilDegraded(root.place, all, killedAt)).toBeLessThan(2 * heartbeatMs);
  expect(Object.keys(await shown(root.place))).toEqual(all);
  await mid.revive();
  await expectTruth(root.place, all);
  expectDocumented(await traffic.stop());
});

test("[AX-13.1-1] [AX-13.1-2] the root dies: its subtree comes back to where it was, on the same port and data", async () => {
  await root.kill();
  const lost = await callOnce(root.place, all[0] as string);
  expect(lost.what).toMatch(/^no answer/);
  await root.revive();
  // Nothing is known of before: what is listed is what has come.
  await expectTruth(root.place, all);
});

test("everything dies at once and starts again in any order", async () => {
  await Promise.all([root, mid, low, oven, lamps].map((one) => one.kill()));
  await Promise.all(
    [oven, lamps].map((one) => one.revive()).concat([low, root, mid].map((one) => one.revive())),
  );
  await expectTruth(root.place, all);
});

// kill -9 of every part of a tree while a client calls everything: a leaf, the aggregator above it, the one below the
// root, the root itself.
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { scratch, start } from "../../cli/support/mcpx-process.ts";
import { fairNow } from "../../support/fair-now.ts";
import { programArgs } from "../../support/programs.ts";
import { timeout } from "../support/soak.ts";
import { type Family, startFamily } from "./support/family.ts";
import type { LeafProcess } from "./support/leaf-process.ts";
import { callOnce, expectDocumented, expectHonest, startTraffic } from "./support/traffic.ts";
import type { TreeNode } from "./support/tree-node.ts";
import { expectTruth, msUntilDegraded, shown } from "./support/truth.ts";

const heartbeatMs = 3_000;
/** Whoever finds out by a lease needs longer than this: two heartbeats are missed, of which one may be over. */
const atOnceMs = heartbeatMs;

let family: Family;
let root: TreeNode;
let mid: TreeNode;
let low: TreeNode;
let oven: LeafProcess;
let lamps: LeafProcess;
const all = ["mid.lamp-a.work", "mid.lamp-b.work", "mid.low.oven.work"];

beforeAll(async () => {
  family = await startFamily();
  ({ root } = family);
  mid = await family.node(root, "mid", { heartbeatMs });
  low = await family.node(mid, "low", { heartbeatMs });
  [oven, lamps] = await Promise.all([
    family.leaves(low, ["oven"], { heartbeatMs }),
    family.leaves(mid, ["lamp-a", "lamp-b"], { heartbeatMs }),
  ]);
}, timeout);

afterAll(() => family.close());

beforeEach(() => family.heal(all), timeout);

const effects = () => [...oven.effects, ...lamps.effects];

test("[AX-13.1-1] [AX-13.2-1] a leaf dies: the others notice nothing, and it comes back", {
  timeout,
}, async () => {
  const traffic = startTraffic(root.place, all);
  await expect.poll(() => traffic.outcomes.length).toBeGreaterThan(10);
  const killedAt = fairNow();
  await oven.kill();
  // Its connection is gone: at once, and at every ancestor.
  const ms = await Promise.all([
    msUntilDegraded(low.place, ["oven.work"], killedAt),
    msUntilDegraded(mid.place, ["low.oven.work"], killedAt),
    msUntilDegraded(root.place, ["mid.low.oven.work"], killedAt),
  ]);
  expect(Math.max(...ms)).toBeLessThan(atOnceMs);
  expect(await callOnce(root.place, "mid.low.oven.work")).toMatchObject({ what: "subserver_unreachable" });
  await oven.revive();
  await expectTruth(root.place, all);
  const outcomes = await traffic.stop();
  expectDocumented(outcomes);
  expectHonest(outcomes, effects());
  expect(
    traffic.since(0, ["mid.lamp-a.work", "mid.lamp-b.work"]).filter(({ what }) => what !== "ok"),
  ).toEqual([]);
  // Control: the fault was seen by those who called it.
  expect(outcomes.some(({ what }) => what === "subserver_unreachable")).toBe(true);
});

test("[AX-13.3-1] [AX-13.3-2] a middle aggregator dies: its whole subtree is degraded at once, and returns", {
  timeout,
}, async () => {
  const traffic = startTraffic(root.place, all);
  await expect.poll(() => traffic.outcomes.length).toBeGreaterThan(10);
  const killedAt = fairNow();
  await low.kill();
  const ms = await Promise.all([
    msUntilDegraded(mid.place, ["low.oven.work"], killedAt),
    msUntilDegraded(root.place, ["mid.low.oven.work"], killedAt),
  ]);
  expect(Math.max(...ms)).toBeLessThan(atOnceMs);
  await low.revive();
  await expectTruth(root.place, all);
  const outcomes = await traffic.stop();
  expectDocumented(outcomes);
  expectHonest(outcomes, effects());
});

test("[AX-13.3-1] the root's only child dies: all is degraded, and all of it returns", {
  timeout,
}, async () => {
  const traffic = startTraffic(root.place, all);
  await expect.poll(() => traffic.outcomes.length).toBeGreaterThan(10);
  const killedAt = fairNow();
  await mid.kill();
  expect(await msUntilDegraded(root.place, all, killedAt)).toBeLessThan(atOnceMs);
  expect(Object.keys(await shown(root.place))).toEqual(all);
  await mid.revive();
  await expectTruth(root.place, all);
  const outcomes = await traffic.stop();
  expectDocumented(outcomes);
  expectHonest(outcomes, effects());
});

test("[AX-13.1-1] [AX-13.1-2] the root dies: its subtree comes back to where it was, on the same port and data", {
  timeout,
}, async () => {
  await root.kill();
  const lost = await callOnce(root.place, all[0] as string);
  expect(lost.what).toMatch(/^no answer/);
  await root.revive();
  // Nothing is known of before: what is listed is what has come.
  await expectTruth(root.place, all);
});

test("everything dies at once and starts again in any order", { timeout }, async () => {
  await Promise.all([root, mid, low, oven, lamps].map((one) => one.kill()));
  await Promise.all(
    [oven, lamps].map((one) => one.revive()).concat([low, root, mid].map((one) => one.revive())),
  );
  await expectTruth(root.place, all);
});

test("[AX-13.1-1] [AX-6.3-4] `mcpx register` dies and is started again; asked to end, it leaves", {
  timeout,
}, async () => {
  const [token = ""] = await root.tokensFor(["stub"]);
  const dataDir = scratch();
  const worker = programArgs("tests/faults/tree/support/stdio-worker.ts");
  const register = () =>
    start([
      ...[
        "register",
        root.url,
        "stub",
        "--token",
        token,
        "--heartbeat",
        `${heartbeatMs / 1_000}s`,
        "--data",
        dataDir,
        "--",
      ],
      ...[process.execPath, ...worker, "stub"],
    ]);
  const first = register();
  await expectTruth(root.place, [...all, "stub.work"]);
  const killedAt = fairNow();
  first.kill("SIGKILL");
  expect(await msUntilDegraded(root.place, ["stub.work"], killedAt)).toBeLessThan(atOnceMs);
  const second = register();
  await expectTruth(root.place, [...all, "stub.work"]);
  second.kill("SIGTERM");
  expect(await second.ended).toEqual({ code: 0, signal: null });
  expect(Object.keys(await shown(root.place))).toEqual(all);
});

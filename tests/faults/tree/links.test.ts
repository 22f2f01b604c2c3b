// The network between two aggregators, and between an aggregator and its subserver: cut, or stalled without a word and
// healed, so that what was on its way arrives when nobody expects it any more.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { fairNow } from "../../support/fair-now.ts";
import { timeout } from "../support/soak.ts";
import { type Family, nodeHeartbeatMs, startFamily } from "./support/family.ts";
import type { LeafProcess } from "./support/leaf-process.ts";
import { type Link, startLink } from "./support/link.ts";
import { expectDocumented, expectHonest, startTraffic } from "./support/traffic.ts";
import type { TreeNode } from "./support/tree-node.ts";
import { expectTruth, msUntilDegraded } from "./support/truth.ts";

const leafHeartbeatMs = 500;
/** Of those who lose nothing: a busy machine is no fault of theirs. */
const calmMs = 5_000;
const all = ["mid.socket.work", "mid.steady.work", "mid.stream.work", "near.work"];

let family: Family;
let root: TreeNode;
let mid: TreeNode;
let up: Link;
let down: Link;
let groups: LeafProcess[];

beforeAll(async () => {
  family = await startFamily();
  ({ root } = family);
  up = await startLink(root.url);
  mid = await family.node(root, "mid", { url: up.url });
  down = await startLink(mid.url);
  groups = await Promise.all([
    family.leaves(mid, ["socket"], { url: down.url, heartbeatMs: leafHeartbeatMs }),
    family.leaves(mid, ["stream"], { url: down.url, heartbeatMs: leafHeartbeatMs, transport: "http" }),
    family.leaves(mid, ["steady"], { heartbeatMs: calmMs }),
    family.leaves(root, ["near"], { heartbeatMs: calmMs }),
  ]);
}, timeout);

beforeEach(async () => {
  up.heal();
  down.heal();
  await family.heal(all);
}, timeout);

afterAll(async () => {
  await family.close();
  await Promise.all([up.close(), down.close()]);
});

test("[AX-6.3-5] [AX-6.3-4] who leaves while the link above is down is gone when it heals", {
  timeout,
}, async () => {
  const [, , steady] = groups as [LeafProcess, LeafProcess, LeafProcess];
  up.cut();
  await msUntilDegraded(root.place, ["mid.socket.work", "mid.steady.work", "mid.stream.work"], 0);
  await steady.order({ leave: ["steady"] });
  up.heal();
  await expectTruth(
    root.place,
    all.filter((name) => name !== "mid.steady.work"),
  );
  await steady.order({ come: ["steady"] });
  await expectTruth(root.place, all);
});

const cases = [
  {
    between: "a subserver and its aggregator",
    link: () => down,
    lost: ["mid.socket.work", "mid.stream.work"],
    heartbeatMs: leafHeartbeatMs,
  },
  {
    between: "two aggregators",
    link: () => up,
    lost: ["mid.socket.work", "mid.steady.work", "mid.stream.work"],
    heartbeatMs: nodeHeartbeatMs,
  },
];

describe.each(cases)("between $between", ({ link, lost, heartbeatMs }) => {
  const untouched = all.filter((name) => !lost.includes(name));

  async function breakAndHeal(fault: "cut" | "stall", withinMs: number): Promise<void> {
    const traffic = startTraffic(root.place, all);
    await expect.poll(() => traffic.outcomes.length).toBeGreaterThan(30);
    const brokenAt = performance.now();
    const began = fairNow();
    link()[fault]();
    expect(await msUntilDegraded(root.place, lost, began)).toBeLessThan(withinMs);
    // Longer than the deadline.
    await expect.poll(() => performance.now() - brokenAt).toBeGreaterThan(3.2 * heartbeatMs);
    link().heal();
    await expectTruth(root.place, all);
    const outcomes = await traffic.stop();
    expectDocumented(outcomes);
    expectHonest(
      outcomes,
      groups.flatMap(({ effects }) => effects),
    );
    expect(traffic.since(0, untouched).filter(({ what }) => what !== "ok")).toEqual([]);
    // Control: the fault was there for whoever called what lies behind it.
    const seen = traffic.since(brokenAt, lost).filter(({ what }) => what === "subserver_unreachable");
    expect(new Set(seen.map(({ name }) => name))).toEqual(new Set(lost));
  }

  test(
    "[AX-13.1-1] [AX-13.3-2] the link is cut: degraded at once, whole again when it heals",
    { timeout },
    () => breakAndHeal("cut", 1.2 * heartbeatMs),
  );

  test(
    "[AX-6.3-1] [AX-13.3-2] the link stalls in silence: degraded within three heartbeats, whole again when it heals",
    { timeout },
    () => breakAndHeal("stall", 3 * heartbeatMs),
  );
});

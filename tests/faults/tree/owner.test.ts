// One owner at a time: a subserver with two aggregators to choose from, of which the first is cut off, or stops and
// goes on while clients still call it there.
import { afterAll, beforeAll, expect, test } from "vitest";
import { fairNow } from "../../support/fair-now.ts";
import { startTestIssuer, type TestIssuer } from "../../support/test-issuer.ts";
import { timeout } from "../support/soak.ts";
import { type LeafProcess, startLeaves } from "./support/leaf-process.ts";
import { type Link, startLink } from "./support/link.ts";
import { callOnce, expectDocumented, expectHonest, startTraffic } from "./support/traffic.ts";
import { startNode, type TreeNode } from "./support/tree-node.ts";
import { expectTruth, msUntilDegraded, shown } from "./support/truth.ts";

const heartbeatMs = 400;
const leaseMs = 2 * heartbeatMs;
const tool = "moving.work";

let issuer: TestIssuer;
let first: TreeNode;
let backup: TreeNode;
let toFirst: Link;
let toBackup: Link;
const groups: LeafProcess[] = [];

beforeAll(async () => {
  issuer = await startTestIssuer();
  const issuers = [
    {
      issuer: issuer.issuer,
      jwksUri: issuer.jwksUri,
      audience: "trees",
      segments: ["moving"],
      scope: "write",
    },
  ];
  [first, backup] = await Promise.all([startNode([], { issuers }), startNode([], { issuers })]);
  [toFirst, toBackup] = await Promise.all([startLink(first.url), startLink(backup.url)]);
}, timeout);

afterAll(async () => {
  for (const one of groups) await one.kill();
  await Promise.all([toFirst.close(), toBackup.close(), first.remove(), backup.remove()]);
  await issuer.down();
});

/** One with both addresses, registered at the first. */
async function startMoving(): Promise<LeafProcess> {
  for (const one of groups.splice(0)) await one.order({ leave: ["moving"] }).then(one.kill);
  const tokenFor = (segment: string) =>
    issuer.token({ sub: `of:${segment}`, topics: [], segment, scope: "write", aud: "trees" });
  const group = { url: toFirst.url, backups: [toBackup.url], heartbeatMs, tokenFor };
  const moving = await startLeaves(first, ["moving"], group);
  groups.push(moving);
  await expectTruth(first.place, [tool]);
  return moving;
}

const ownersOf = ({ states }: LeafProcess) =>
  states.flatMap(({ state, owner }) => (state === "registered" ? [owner] : []));

test("[AX-13.3-3] cut off from its aggregator it goes to the backup when its lease is over, not before, and stays", {
  timeout,
}, async () => {
  const moving = await startMoving();
  const here = startTraffic(first.place, [tool]);
  const there = startTraffic(backup.place, [tool]);
  const cutAt = fairNow();
  toFirst.cut();
  expect(await msUntilDegraded(first.place, [tool], cutAt)).toBeLessThan(leaseMs);
  await expectTruth(backup.place, [tool]);
  const [lost] = moving.states.filter(({ state }) => state === "waiting");
  const arrived = moving.states.findLast(({ state }) => state === "registered");
  // The last heartbeat before was answered less than one interval ago.
  expect((arrived?.atMs ?? 0) - (lost?.atMs ?? 0)).toBeGreaterThan(leaseMs - heartbeatMs);
  toFirst.heal();
  expect((await callOnce(first.place, tool)).what).toBe("subserver_unreachable");
  expect((await callOnce(backup.place, tool)).what).toBe("ok");
  const [one, other] = ownersOf(moving);
  expect(one).not.toBe(other);
  const outcomes = [...(await here.stop()), ...(await there.stop())];
  expectDocumented(outcomes);
  expectHonest(outcomes, moving.effects);
  // It can go back all the same.
  toBackup.cut();
  await expectTruth(first.place, [tool]);
  expect(ownersOf(moving)).toEqual([one, other, one]);
  toBackup.heal();
});

test("[AX-13.3-3] [AX-13.4-1] an owner that was stopped dispatches nothing to a subserver that has moved", {
  timeout,
}, async () => {
  const moving = await startMoving();
  const here = startTraffic(first.place, [tool]);
  const there = startTraffic(backup.place, [tool]);
  await expect.poll(() => here.outcomes.length).toBeGreaterThan(10);
  const sent = toFirst.sentBytes;
  const stoppedAt = performance.now();
  first.freeze();
  // Heartbeats wait for it in its socket; of the subserver's leaving it learns nothing.
  await expect.poll(() => toFirst.sentBytes, { interval: 10 }).toBeGreaterThan(sent);
  toFirst.stall();
  await expectTruth(backup.place, [tool]);
  const [owner, heir] = ownersOf(moving);
  // Longer than the deadline, while its clients go on calling.
  const waiting = Array.from({ length: 20 }, () => callOnce(first.place, tool));
  await expect.poll(() => performance.now() - stoppedAt).toBeGreaterThan(4 * heartbeatMs);
  const brought = toFirst.brought.length;
  first.thaw();
  const answered = await Promise.all(waiting);
  expect(new Set(answered.map(({ what }) => what))).toEqual(new Set(["subserver_unreachable"]));
  expect(toFirst.brought.slice(brought)).not.toContain("tools/call");
  // What it had said before it stopped, and the subserver's end, arrive at last.
  toFirst.heal();
  expect(await shown(first.place)).toEqual({ [tool]: "degraded" });
  const outcomes = [...(await here.stop()), ...(await there.stop())];
  expectDocumented(outcomes, 10_000);
  expectHonest([...outcomes, ...answered], moving.effects);
  // Each call was carried out for the one it came through.
  const through = new Map(
    outcomes.map(({ n }) => [n, here.outcomes.some((one) => one.n === n) ? owner : heir]),
  );
  const strange = moving.effects.filter(
    (effect) => through.has(effect.n) && through.get(effect.n) !== effect.owner,
  );
  expect(strange).toEqual([]);
  // Control: calls came through both of them.
  const owners = new Set(moving.effects.map((effect) => effect.owner));
  expect(owners).toEqual(new Set([owner, heir]));
});

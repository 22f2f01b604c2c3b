// Crowds: two hundred subservers that come and go at once, that all lose their aggregator at the same moment, and
// strangers who speak for others.
import { randomUUID } from "node:crypto";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { fairNow } from "../../support/fair-now.ts";
import {
  type Message,
  type RawRegistrant,
  rawRegistrant,
  registrationOf,
  toolOf,
} from "../../tree/registration/support/raw-registrant.ts";
import { timeout } from "../support/soak.ts";
import { type Family, startFamily } from "./support/family.ts";
import type { LeafProcess } from "./support/leaf-process.ts";
import { expectDocumented, expectHonest, startTraffic } from "./support/traffic.ts";
import type { TreeNode } from "./support/tree-node.ts";
import { expectTruth, shown } from "./support/truth.ts";

const heartbeatMs = 2_000;
/** Of those who are watched closely. */
const shortMs = 500;
const numbered = (name: string) =>
  Array.from({ length: 100 }, (_, n) => `${name}-${String(n).padStart(3, "0")}`);
const even = numbered("even");
const odd = numbered("odd");
const tools = (segments: readonly string[]) => segments.map((segment) => `${segment}.work`);

let family: Family;
let root: TreeNode;
let crowd: LeafProcess;
const strangers: RawRegistrant[] = [];

afterAll(() => family.close());

beforeEach(async () => {
  if (!root.isUp) await root.revive();
}, timeout);

beforeAll(async () => {
  family = await startFamily();
  ({ root } = family);
  crowd = await family.leaves(root, [...even, ...odd], { heartbeatMs, isWaiting: true });
}, timeout);

afterEach(() => {
  for (const one of strangers.splice(0)) one.cut();
});

test("[AX-6.1-1] [AX-6.3-4] two hundred come at once, half leaves while the other half comes, and again", {
  timeout,
}, async () => {
  await crowd.order({ come: [...even, ...odd] });
  await expectTruth(root.place, tools([...even, ...odd]));
  const traffic = startTraffic(root.place, tools([...even.slice(0, 3), ...odd.slice(0, 3)]));
  await crowd.order({ leave: odd });
  await expectTruth(root.place, tools(even));
  // Those who leave and those who come cross each other.
  await Promise.all([crowd.order({ leave: even }), crowd.order({ come: odd })]);
  await expectTruth(root.place, tools(odd));
  await Promise.all([crowd.order({ come: even }), crowd.order({ leave: odd })]);
  await crowd.order({ come: odd });
  await expectTruth(root.place, tools([...even, ...odd]));
  const outcomes = await traffic.stop();
  expectDocumented(outcomes);
  expectHonest(outcomes, crowd.effects);
  // Control: some were called while they were away.
  expect(outcomes.some(({ what }) => what === "unknown_tool")).toBe(true);
  expect(crowd.states.filter(({ state, why }) => state === "waiting" && why !== "")).toEqual([]);
});

test("[AX-13.1-1] two hundred lose their aggregator at the same moment: they come back spread out, each once", {
  timeout,
}, async () => {
  await expectTruth(root.place, tools([...even, ...odd]));
  const before = crowd.states.length;
  await root.kill();
  const attemptsOf = (segment: string) =>
    crowd.states.slice(before).filter((one) => one.segment === segment && one.state === "connecting");
  await expect
    .poll(() => Math.min(...crowd.segments.map((one) => attemptsOf(one).length)))
    .toBeGreaterThan(2);
  const lostAt = Math.min(...crowd.states.slice(before).map(({ atMs }) => atMs));
  const third = crowd.segments.map((segment) => (attemptsOf(segment)[2]?.atMs ?? 0) - lostAt);
  // Three waits, each between half and all of its time; and no half of the crowd comes within a moment.
  expect(Math.min(...third)).toBeGreaterThan((100 + 200 + 400) / 2 - 10);
  const sorted = third.toSorted((a, b) => a - b);
  const halves = sorted.slice(0, 100).map((ms, index) => (sorted[index + 100] as number) - ms);
  expect(Math.min(...halves)).toBeGreaterThan(20);
  await root.revive();
  await expectTruth(root.place, tools([...even, ...odd]), 40_000);
  const arrivals = crowd.states.slice(before).filter(({ state }) => state === "registered");
  expect(arrivals).toHaveLength(200);
});

test("[AX-6.3-3] [AX-10.1-1] heartbeats and farewells of a stranger count for nobody else", {
  timeout,
}, async () => {
  await crowd.kill();
  await expect
    .poll(async () => Object.values(await shown(root.place)).every((one) => one === "degraded"))
    .toBe(true);
  const [victimToken = "", strangerToken = ""] = await root.tokensFor(["victim", "stranger"]);
  const come = async (segment: string, token: string): Promise<[RawRegistrant, Message]> => {
    const registrant = await rawRegistrant(root.url, token, { parentId: null, tools: [toolOf("work")] });
    strangers.push(registrant);
    const answer = await registrant.register(registrationOf(segment, { heartbeat_interval_ms: shortMs }));
    return [registrant, answer.result];
  };
  const [victim, { session_id }] = await come("victim", victimToken);
  const [stranger, own] = await come("stranger", strangerToken);
  const availability = async (tool: string) => (await shown(root.place))[tool];
  await expect.poll(() => availability("victim.work")).toBe("always");
  const reasons = new Set<string>();
  const speak = async () => {
    await stranger.request("mcpax/heartbeat", { session_id: own.session_id });
    for (const id of [session_id, randomUUID(), "", 7]) {
      for (const method of ["mcpax/heartbeat", "mcpax/deregister", "mcpax/update"]) {
        const { error } = await stranger.request(method, { session_id: id });
        reasons.add(error?.data?.reason ?? "done");
      }
      const body = { jsonrpc: "2.0", id: 1, method: "mcpax/heartbeat", params: { session_id: id } };
      const headers = { "content-type": "application/json", authorization: `Bearer ${strangerToken}` };
      const posted = await fetch(`${root.url}/ax`, {
        method: "POST",
        headers: { ...headers, "mcpax-session": String(id) },
        body: JSON.stringify(body),
      });
      reasons.add(((await posted.json()) as Message).error?.reason ?? "done");
    }
  };
  const beating = setInterval(() => void victim.request("mcpax/heartbeat", { session_id }), 150);
  for (let n = 0; n < 5; n += 1) await speak();
  // It was not made to leave.
  expect(await availability("victim.work")).toBe("always");
  clearInterval(beating);
  victim.isSilent = true;
  const silentSince = fairNow();
  let isSpeaking = true;
  const speaking = (async () => {
    while (isSpeaking) await speak();
  })();
  // Nor is it kept alive.
  await expect.poll(() => availability("victim.work"), { interval: 20 }).toBe("degraded");
  expect(fairNow() - silentSince).toBeLessThan(3 * shortMs);
  // Control: its own heartbeats do keep it.
  expect(await availability("stranger.work")).toBe("always");
  expect(await victim.closed).toMatchObject({ code: 4500 });
  isSpeaking = false;
  await speaking;
  expect(reasons).toEqual(new Set(["registration_unknown"]));
});

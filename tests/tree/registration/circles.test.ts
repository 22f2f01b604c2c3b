// Who stands above whom: circles are refused, and nobody can cut a tree from its parent by claiming ids.
import { randomUUID } from "node:crypto";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { type Link, startLink } from "../../faults/tree/support/link.ts";
import { startTestServer, type TestServer } from "../../support/test-server.ts";
import { callTool } from "../support/ask.ts";
import { startBelow, startChain, stopAll } from "./support/family.ts";
import { type Message, type RawRegistrant, rawRegistrant, registrationOf } from "./support/raw-registrant.ts";

const started: TestServer[] = [];
const registrants: RawRegistrant[] = [];

afterEach(async () => {
  for (const one of registrants.splice(0)) one.cut();
  await stopAll(started.splice(0));
});

async function come({ url, token }: TestServer, segment: string): Promise<RawRegistrant> {
  const bearer = await token({ sub: `of:${segment}`, topics: [], segment });
  const registrant = await rawRegistrant(url, bearer, { parentId: null });
  registrants.push(registrant);
  return registrant;
}

async function idOf(server: TestServer): Promise<string> {
  const probe = await come(server, "probe");
  const { result } = await probe.register(registrationOf("probe"));
  await probe.request("mcpax/deregister", { session_id: result.session_id });
  return result.aggregator_id;
}

const claiming = (...ids: string[]) => ({ "x-mcpax-subtree-ids": [randomUUID(), ...ids] });
const outcome = ({ result, error }: Message): string => result?.status ?? error.data.reason;

async function parentState({ url, token }: TestServer): Promise<string> {
  const place = { url: `${url}/mcp`, token: await token({ sub: "alice", topics: [], tools: ["**"] }) };
  const { message } = await callTool(place, "mcpax.status");
  return message.result.structuredContent.parents[0].state;
}

/** A server below another, with a cable between them that can be cut. */
async function startBelowLink(parent: TestServer, segment: string): Promise<[TestServer, Link]> {
  const link = await startLink(parent.url);
  onTestFinished(() => link.close());
  const below = await startBelow({ ...parent, url: link.url, token: parent.token }, segment);
  started.push(below);
  await expect.poll(() => parentState(below)).toBe("registered");
  return [below, link];
}

test("[AX-5.3-2] while the parent cannot be reached nobody below can claim its id, and the tree comes back", async () => {
  const top = await startTestServer();
  started.push(top);
  const topId = await idOf(top);
  const [middle, link] = await startBelowLink(top, "middle");
  link.cut();
  await expect.poll(() => parentState(middle)).not.toBe("registered");
  const thief = await come(middle, "thief");
  expect(outcome(await thief.register(registrationOf("thief", claiming(topId))))).toBe("registration_cycle");
  const asItself = await come(middle, "thief");
  const own = registrationOf("thief", { ...claiming(), subserver_id: topId });
  expect(outcome(await asItself.register(own))).toBe("registration_cycle");
  // Control: a tree with other ids is taken meanwhile, and may not claim it later either.
  const honest = await come(middle, "honest");
  const { result } = await honest.register(registrationOf("honest", claiming()));
  expect(result.status).toBe("registered");
  const later = { session_id: result.session_id, ...claiming(topId) };
  expect(outcome(await honest.request("mcpax/update", later))).toBe("registration_cycle");
  link.heal();
  await expect.poll(() => parentState(middle)).toBe("registered");
});

test("[AX-5.3-2] [B-REG-1] who claims the id of a tree above, while that cannot be reached, goes when it can: the tree comes back, and the others below stay", async () => {
  const [top, middle] = (await startChain(2)) as [TestServer, TestServer];
  started.push(top, middle);
  const topId = await idOf(top);
  await expect.poll(() => parentState(middle)).toBe("registered");
  const [edge, link] = await startBelowLink(middle, "edge");
  link.cut();
  await expect.poll(() => parentState(edge)).not.toBe("registered");
  // The edge has never heard of the tree above its parent.
  const thief = await come(edge, "thief");
  expect(outcome(await thief.register(registrationOf("thief", claiming(topId))))).toBe("registered");
  const honest = await come(edge, "honest");
  expect(outcome(await honest.register(registrationOf("honest", claiming())))).toBe("registered");
  link.heal();
  expect(await thief.closed).toEqual({ code: 4503, reason: "registration_cycle" });
  await expect.poll(() => parentState(edge)).toBe("registered");
  expect(edge.logged.join("")).toContain("stands above this aggregator");
  // Control: it is refused from now on, and the other was never asked to go.
  const again = await come(edge, "thief");
  expect(outcome(await again.register(registrationOf("thief", claiming(topId))))).toBe("registration_cycle");
  expect(honest.socket.readyState).toBe(honest.socket.OPEN);
});

test("[AX-5.3-2] [B-REG-1] the same two levels below the tree that is cut off: the tree between comes back without the one that claims it", async () => {
  const top = await startTestServer();
  started.push(top);
  const topId = await idOf(top);
  const [edge, link] = await startBelowLink(top, "edge");
  const [deep] = await startBelowLink(edge, "deep");
  link.cut();
  await expect.poll(() => parentState(edge)).not.toBe("registered");
  // As after a restart: what the edge knew of those above it is gone.
  await edge.restart();
  await expect.poll(() => parentState(deep)).toBe("registered");
  const thief = await come(deep, "thief");
  expect(outcome(await thief.register(registrationOf("thief", claiming(topId))))).toBe("registered");
  link.heal();
  expect(await thief.closed).toEqual({ code: 4503, reason: "registration_cycle" });
  await expect.poll(() => parentState(edge)).toBe("registered");
  await expect.poll(() => parentState(deep)).toBe("registered");
});

test("[AX-5.3-2] a circle over three levels is refused by the one that would close it, also when it closes later", async () => {
  const chain = await startChain(3);
  started.push(...chain);
  const [top, , last] = chain as [TestServer, TestServer, TestServer];
  const topId = await idOf(top);
  for (const below of chain.slice(1)) await expect.poll(() => parentState(below)).toBe("registered");
  const first = await come(last, "deep");
  expect(outcome(await first.register(registrationOf("deep", claiming(topId))))).toBe("registration_cycle");
  const second = await come(last, "deep");
  const { result } = await second.register(registrationOf("deep", claiming()));
  const later = { session_id: result.session_id, ...claiming(topId) };
  expect(outcome(await second.request("mcpax/update", later))).toBe("registration_cycle");
  // Control: what it said before still counts, and other ids do.
  const other = { session_id: result.session_id, ...claiming(randomUUID()) };
  expect(outcome(await second.request("mcpax/update", other))).toBe("updated");
});

test("[AX-5.3-2] all ids below must fit into one registration above: the one that brings too many, or more than it leaves for others, is refused", async () => {
  const server = await startTestServer();
  started.push(server);
  const many = (count: number) => claiming(...Array.from({ length: count - 1 }, () => randomUUID()));
  const [big, raced, small] = await Promise.all(["big", "raced", "small"].map((one) => come(server, one)));
  const first = await big?.register(registrationOf("big", many(2_000)));
  const both = await Promise.all([
    raced?.register(registrationOf("raced", many(1_000))),
    small?.register(registrationOf("small", many(1_000))),
  ]);
  expect(both.map(outcome).sort()).toEqual(["registered", "too_many_subservers"]);
  const { session_id } = first.result;
  const update = (count: number) => big?.request("mcpax/update", { session_id, ...many(count) });
  expect(outcome(await update(1_549))).toBe("too_many_subservers");
  // Control: its own former ids are not counted beside the new ones.
  expect(outcome(await update(1_547))).toBe("updated");
});

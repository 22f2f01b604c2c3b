// One `subserver_id` has one place in a whole tree of trees, also of registrants that do not say whose they are.
import { randomUUID } from "node:crypto";
import { afterEach, expect, onTestFinished, test } from "vitest";
import { startLink } from "../../faults/tree/support/link.ts";
import { startTestServer, type TestServer } from "../../support/test-server.ts";
import { ask, callTool } from "../support/ask.ts";
import { startBelow, stopAll } from "./support/family.ts";
import {
  type Message,
  type RawRegistrant,
  rawRegistrant,
  registrationOf,
  toolOf,
} from "./support/raw-registrant.ts";

const started: TestServer[] = [];
const registrants: RawRegistrant[] = [];

afterEach(async () => {
  for (const one of registrants.splice(0)) one.cut();
  await stopAll(started.splice(0));
});

async function below(parent: TestServer, segment: string): Promise<TestServer> {
  const server = await startBelow(parent, segment);
  started.push(server);
  await expect.poll(() => parentState(server)).toBe("registered");
  return server;
}

async function root(): Promise<TestServer> {
  const server = await startTestServer();
  started.push(server);
  return server;
}

async function enter({ url, token }: TestServer) {
  return { url: `${url}/mcp`, token: await token({ sub: "alice", topics: [], tools: ["**"] }) };
}

async function parentState(server: TestServer): Promise<string> {
  const { message } = await callTool(await enter(server), "mcpax.status");
  return message.result.structuredContent.parents[0].state;
}

async function listed(server: TestServer): Promise<string[]> {
  const { message } = await ask(await enter(server), "tools/list");
  const names: string[] = message.result.tools.map(({ name }: Message) => name);
  return names.filter((name) => name.endsWith(".t")).sort();
}

/** It does not answer `mcpax/parent`. */
async function come(
  { url, token }: TestServer,
  segment: string,
  id: string,
): Promise<[string, RawRegistrant, Message]> {
  const bearer = await token({ sub: `of:${segment}`, topics: [], segment });
  const registrant = await rawRegistrant(url, bearer, { tools: [toolOf("t")] });
  registrants.push(registrant);
  const { result, error } = await registrant.register(registrationOf(segment, { subserver_id: id }));
  return [result?.status ?? error.data.reason, registrant, result];
}

test("[AX-13.4-1] the same id in two trees below one root: the second is refused, until the first leaves", async () => {
  const top = await root();
  const [a, b] = [await below(top, "a"), await below(top, "b")];
  const id = randomUUID();
  const [first, leaf, { session_id }] = await come(a, "x", id);
  expect(first).toBe("registered");
  expect((await come(b, "y", id))[0]).toBe("duplicate_subserver");
  expect((await come(top, "z", id))[0]).toBe("duplicate_subserver");
  // Control: another id is taken there.
  expect((await come(b, "y", randomUUID()))[0]).toBe("registered");
  await expect.poll(() => listed(top)).toEqual(["a.x.t", "b.y.t"]);
  await leaf.request("mcpax/deregister", { session_id });
  await expect.poll(async () => (await come(b, "w", id))[0]).toBe("registered");
  // Lost ends it too, and so does the loss of the tree that had it.
  registrants.at(-1)?.cut();
  await expect.poll(async () => (await come(a, "v", id))[0]).toBe("registered");
  started.splice(started.indexOf(a), 1);
  await a.stop();
  await expect.poll(async () => (await come(top, "u", id))[0]).toBe("registered");
});

test("[AX-13.4-1] at three levels, of two at once one is taken", async () => {
  const top = await root();
  const [a, b] = [await below(top, "a"), await below(top, "b")];
  const [aa, bb] = [await below(a, "aa"), await below(b, "bb")];
  const id = randomUUID();
  const both = await Promise.all([come(aa, "x", id), come(bb, "y", id)]);
  expect(both.map(([status]) => status).sort()).toEqual(["duplicate_subserver", "registered"]);
  await expect.poll(() => listed(top)).toHaveLength(1);
  // Control.
  expect((await come(aa, "other", randomUUID()))[0]).toBe("registered");
  await expect.poll(() => listed(top)).toHaveLength(2);
});

test("[AX-13.4-1] one that came while its tree was cut off goes when the tree is back", async () => {
  const top = await root();
  const a = await below(top, "a");
  const b = await below(top, "b");
  const link = await startLink(b.url);
  onTestFinished(() => link.close());
  const bb = await below({ ...b, url: link.url, token: b.token }, "bb");
  const id = randomUUID();
  link.cut();
  await expect.poll(() => parentState(bb)).not.toBe("registered");
  expect((await come(a, "x", id))[0]).toBe("registered");
  const [status, late] = await come(bb, "y", id);
  expect(status).toBe("registered");
  // Control: another that came meanwhile stays.
  expect((await come(bb, "other", randomUUID()))[0]).toBe("registered");
  link.heal();
  expect(await late.closed).toEqual({ code: 4503, reason: "duplicate_subserver" });
  await expect.poll(() => listed(top)).toEqual(["a.x.t", "b.bb.other.t"]);
  expect(await listed(bb)).toEqual(["other.t"]);
});

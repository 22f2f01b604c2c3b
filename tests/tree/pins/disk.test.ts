// What registrants make the gateway keep on disk is bounded by who registered it, changes included; an honest neighbour
// notices nothing, and the same below the bound passes.
import { statSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../support/test-server.ts";
import {
  type Message,
  type RawRegistrant,
  rawRegistrant,
  registrationOf,
  toolOf,
} from "../registration/support/raw-registrant.ts";
import { ask, callTool, type Place } from "../support/ask.ts";

const kibi = 1_024;
const limits = { pinnedCharsPerServerMax: 200 * kibi, pinnedCharsPerPrincipalMax: 300 * kibi };
const registrants: RawRegistrant[] = [];
let server: TestServer;

afterEach(async () => {
  for (const one of registrants.splice(0)) one.cut();
  await server.stop();
});

async function start() {
  server = await startTestServer({ limits, config: { degraded: { grace: 0 } } });
  const { url, token } = server;
  const place: Place = { url: `${url}/mcp`, token: await token({ sub: "alice", topics: [], tools: ["**"] }) };
  const come = async (sub: string, segment: string, tools: () => object[]) => {
    const own = await token({ sub, topics: [], segment, scope: "write" });
    const registrant = await rawRegistrant(url, own, { parentId: null, list: () => ({ tools: tools() }) });
    registrants.push(registrant);
    expect((await registrant.register(registrationOf(segment))).error).toBeUndefined();
    return registrant;
  };
  const named = async (segment: string): Promise<string[]> => {
    const { message } = await ask(place, "tools/list");
    const names: string[] = message.result.tools.map(({ name }: Message) => name);
    return names.filter((name) => name.startsWith(`${segment}.`));
  };
  const status = async (segment: string): Promise<Message> => {
    const { message } = await callTool(place, "mcpax.status");
    return message.result.structuredContent.servers.find(({ name }: Message) => name === segment);
  };
  await come("honest", "honest", () => [toolOf("t")]);
  await expect.poll(() => named("honest")).toEqual(["honest.t"]);
  const isUntouched = async () => {
    expect(await named("honest")).toEqual(["honest.t"]);
    const { message } = await callTool(place, "honest.t", { a: 1 });
    expect(message.error).toBeUndefined();
  };
  return { come, named, status, isUntouched };
}

/** 10 KiB each. */
const large = (name: string, mark = "") => ({ ...toolOf(name), description: mark + "x".repeat(10 * kibi) });
const many = (count: number, prefix = "t", mark = "") =>
  Array.from({ length: count }, (_, i) => large(`${prefix}${i}`, mark));

test("registering and leaving under ever new segments fills one share, and no more", async () => {
  const { come, named, status, isUntouched } = await start();
  const first = await come("greedy", "one", () => many(15));
  await expect.poll(async () => (await named("one")).length).toBe(15);
  first.cut();
  await expect.poll(() => named("one")).toEqual([]);
  // What it has left behind still counts.
  await come("greedy", "two", () => many(19));
  await expect.poll(async () => (await named("two")).length).toBeGreaterThan(0);
  const shown = (await named("two")).length;
  expect(shown).toBeLessThan(15);
  expect((await status("two")).left_out[0]).toContain("too many tools to pin another");
  for (let i = 0; i < 10; i += 1) {
    const more = await come("greedy", `more-${i}`, () => many(15));
    await expect.poll(async () => (await status(`more-${i}`)).left_out.length).toBe(15);
    more.cut();
    await expect.poll(() => status(`more-${i}`)).toBeUndefined();
  }
  await isUntouched();
  await come("other", "three", () => many(15));
  await expect.poll(async () => (await named("three")).length).toBe(15);
  await isUntouched();
  expect(statSync(join(server.dataDir, "state.db")).size).toBeLessThan(2_000 * kibi);
});

test("a change that has no room is held back all the same, and one that has room can be looked at", async () => {
  const { come, named, status, isUntouched } = await start();
  let mark = "";
  const one = await come("greedy", "one", () => many(15, "t", mark));
  await expect.poll(async () => (await named("one")).length).toBe(15);
  mark = "changed ";
  one.notify("notifications/tools/list_changed");
  await expect.poll(async () => (await named("one")).length).toBe(0);
  expect((await status("one")).quarantined).toHaveLength(15);
  // Of fifteen changes of 10 KiB four have room below 200 KiB.
  const db = new DatabaseSync(join(server.dataDir, "state.db"), { readOnly: true });
  const stored = db.prepare("SELECT count(*) AS n FROM tool_pins WHERE changed_text IS NOT NULL").get();
  db.close();
  expect(stored).toEqual({ n: 4 });
  mark = "";
  one.notify("notifications/tools/list_changed");
  await expect.poll(async () => (await named("one")).length).toBe(15);
  await isUntouched();
});

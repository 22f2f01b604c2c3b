// Alarms of devices at the clients of the root: the C stubs in an edge tree below another tree, and the official SDKs. [AX-12-1]
import { randomUUID } from "node:crypto";
import type { Config } from "@mcpx/cli";
import { socketLine } from "@mcpx/devices";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../support/test-server.ts";
import { bare, hearing, kinds } from "../tree/notifications/support/hearing-client.ts";
import { startBelow, stopAll } from "../tree/registration/support/family.ts";
import { ask, type Message, type Place } from "../tree/support/ask.ts";
import { demoDevice } from "./support/demo-device.ts";
import { startDeviceTree } from "./support/device-tree.ts";
import { buildHostStubs, type HostStubs } from "./support/host-stub.ts";

let root: TestServer;
let edge: TestServer;
let stubs: HostStubs;
const lines: Record<string, Awaited<ReturnType<HostStubs["start"]>>> = {};

type Entry = NonNullable<Config["devices"]>[string];

/** Its thermal switch is event 1. */
function entry(profile: "a" | "b", path: string, events: Entry["events"]): Entry {
  const tools = demoDevice(profile).tools.map(({ name, ...tool }) => [name, tool]);
  return {
    line: `unix:${path}`,
    profile,
    heartbeat: 200,
    tools: Object.fromEntries(tools),
    ...(events !== undefined && { events }),
  };
}

beforeAll(async () => {
  stubs = await buildHostStubs();
  for (const name of ["lamp", "valve", "old"]) lines[name] = await stubs.start(name === "lamp" ? "a" : "b");
  const path = (name: string) => lines[name]?.path as string;
  const reading = (type: "u16" | "uint") => [{ name: "reading", type, scale: 0.01 }];
  root = await startTestServer();
  edge = await startBelow(root, "edge", {
    config: {
      devices: {
        lamp: entry("a", path("lamp"), { overheat: { id: 1, alarm: true, fields: reading("u16") } }),
        valve: entry("b", path("valve"), { overheat: { id: 1, alarm: true, fields: reading("uint") } }),
        old: entry("b", path("old"), undefined),
      },
    },
  });
});

afterAll(async () => {
  await stopAll([root, edge]);
  await stubs[Symbol.asyncDispose]();
});

async function atRoot(tools = ["**"]): Promise<Place> {
  const sub = `reader-${randomUUID()}`;
  return { url: `${root.url}/mcp`, token: await root.token({ sub, topics: [], tools }) };
}

async function names(place: Place): Promise<string[]> {
  const { message } = await ask(place, "tools/list");
  return message.result.tools.map(({ name }: Message) => name);
}

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

test.each(kinds.flatMap((kind) => (["lamp", "valve"] as const).map((device) => [kind, device] as const)))(
  "[AX-12-1] [AX-12-3] %s at the root hears the alarm of %s, a device of the edge, each time its switch closes",
  async (kind, device) => {
    const place = await atRoot();
    await expect.poll(() => names(place)).toContain(`edge.${device}.read_sensor`);
    const client = await hearing(kind, place);
    const stranger = await hearing(kind, await atRoot(["edge.old.*", "mcpax.*"]));
    const alarm = `edge.${device}.notifications/alarm`;
    for (const count of [1, 2]) {
      lines[device]?.signal("SIGUSR1");
      await expect.poll(() => client.of(alarm).length).toBe(count);
      lines[device]?.signal("SIGUSR2");
      // The stub has seen its switch open once it has answered something after that.
      for (const _ of [1, 2])
        await ask(place, "tools/call", { name: `edge.${device}.read_sensor`, arguments: {} });
    }
    const heard = client.of(alarm).map(bare);
    const expected = {
      event: "overheat",
      values: { reading: 21.5 },
      "x-mcpax-event-id": expect.stringMatching(uuid),
      "x-mcpax-causal-parent": null,
      _meta: { "x-mcpax-route": ["edge", device] },
    };
    expect(heard).toEqual([expected, expected]);
    expect(new Set(heard.map((one) => one["x-mcpax-event-id"])).size).toBe(2);
    // Most legacy clients show log messages only: the alarm is a warning there.
    const rendered = () =>
      client
        .of("notifications/message")
        .filter(({ data }) => data.method === alarm)
        .map(({ level, logger, data }) => [level, logger, data.values]);
    const shown = kind === "v2 modern" ? 0 : 2;
    await expect.poll(rendered).toEqual(Array(shown).fill(["warning", `edge.${device}`, { reading: 21.5 }]));
    expect(stranger.said()).toEqual([]);
  },
);

test("[AX-12-1] a device without events in its configuration: what it says unasked reaches nobody, and its calls go on", async () => {
  const place = await atRoot();
  await expect.poll(() => names(place)).toContain("edge.old.read_sensor");
  const client = await hearing("v2 modern", place);
  const call = async () =>
    (await ask(place, "tools/call", { name: "edge.old.read_sensor", arguments: {} })).message.result;
  lines.old?.signal("SIGUSR1");
  for (const _ of [1, 2, 3]) expect((await call()).structuredContent).toMatchObject({ reading: 2150 });
  // Control: the same client hears the next one, which the other device said later.
  lines.valve?.signal("SIGUSR1");
  await expect.poll(() => client.of("edge.valve.notifications/alarm").length).toBe(1);
  lines.valve?.signal("SIGUSR2");
  expect(client.said().filter(({ method }) => method.startsWith("edge.old."))).toEqual([]);
});

test.each(["a", "b"] as const)(
  "[AX-12-1] [AX-B-9] an alarm that a stub of profile %s says before it has its place in the tree is told once it has",
  async (profile) => {
    const stub = await stubs.start(profile);
    stub.signal("SIGUSR1");
    await using tree = await startDeviceTree();
    const heard: Message[] = [];
    tree.client.fallbackNotificationHandler = async (one) => void heard.push(one);
    const fields = [{ name: "reading", type: profile === "a" ? "u16" : "uint" }] as const;
    const config = demoDevice(profile, { events: [{ id: 1, name: "overheat", alarm: true, fields }] });
    await tree.open(config, socketLine({ path: stub.path }));
    const alarms = () => heard.filter(({ method }) => method === "lamp.notifications/alarm");
    await expect.poll(() => alarms().map(({ params }) => params.values)).toEqual([{ reading: 2150 }]);
  },
);

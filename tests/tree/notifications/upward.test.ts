// What is said below, as clients at the root hear it: the official SDKs, real sockets, two trees. [AX-12-1]
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../support/test-server.ts";
import { startBelow, stopAll } from "../registration/support/family.ts";
import {
  type RawRegistrant,
  rawRegistrant,
  registrationOf,
  toolOf,
} from "../registration/support/raw-registrant.ts";
import { ask, callTool, type Message, type Place } from "../support/ask.ts";
import { bare, hearing, kinds } from "./support/hearing-client.ts";

let root: TestServer;
let edge: TestServer;
const registrants: RawRegistrant[] = [];
const lost = "notifications/mcpax/subserver_lost";
const message = "notifications/message";

beforeAll(async () => {
  root = await startTestServer({ config: { degraded: { grace: 60_000 } } });
  edge = await startBelow(root, "edge");
});

afterAll(async () => {
  for (const one of registrants) one.cut();
  await stopAll([root, edge]);
});

async function at(server: TestServer, tools = ["**"]): Promise<Place> {
  const sub = `reader-${randomUUID()}`;
  return { url: `${server.url}/mcp`, token: await server.token({ sub, topics: [], tools }) };
}

async function leaf(server: TestServer, segment: string, more: object = {}): Promise<RawRegistrant> {
  const token = await server.token({ sub: segment, topics: [], segment, scope: "write" } as never);
  const registrant = await rawRegistrant(server.url, token, { parentId: null, tools: [toolOf("t")] });
  registrants.push(registrant);
  const { result } = await registrant.register(registrationOf(segment, more));
  expect(result.status).toBe("registered");
  return registrant;
}

async function names(place: Place): Promise<string[]> {
  const { message: answer } = await ask(place, "tools/list");
  return answer.result.tools.map(({ name }: Message) => name);
}

const route = (...segments: string[]) => ({ "x-mcpax-route": segments });

test.each(kinds)(
  "[AX-12-1] [AX-12-3] %s at the root hears alarms and logs from two levels below, in order",
  async (kind) => {
    const segment = `stub-${kind.replace(" ", "-")}`;
    const stub = await leaf(edge, segment);
    const place = await at(root);
    await expect.poll(() => names(place)).toContain(`edge.${segment}.t`);
    const client = await hearing(kind, place, "info");
    const stranger = await hearing(kind, await at(root, ["edge.other.*", "mcpax.*"]), "info");
    const ids = { "x-mcpax-event-id": randomUUID(), "x-mcpax-causal-parent": null };
    stub.notify(message, { level: "info", logger: "pump", data: "on", ...ids });
    stub.notify("notifications/line/alarm", { line: 7, _meta: ids });
    stub.notify(message, { level: "debug", data: "chatter" });
    stub.notify("notifications/line/moved", { to: 3 });
    stub.notify(message, { level: "error", data: "last" });
    await expect.poll(() => client.of(message).some(({ data }) => data === "last")).toBe(true);
    const _meta = route("edge", segment);
    const told = client.said().map(({ method, params }) => ({ method, params: bare(params) }));
    const own = told.filter(({ params }) => params._meta["x-mcpax-rendered"] === undefined);
    expect(own).toEqual([
      {
        method: message,
        params: { level: "info", logger: `edge.${segment}.pump`, data: "on", ...ids, _meta },
      },
      {
        method: `edge.${segment}.notifications/line/alarm`,
        params: { line: 7, _meta: { ...ids, ..._meta } },
      },
      { method: `edge.${segment}.notifications/line/moved`, params: { to: 3, _meta } },
      // A guest that names no logger has its segment for one. [B-REG-1]
      { method: message, params: { level: "error", logger: `edge.${segment}`, data: "last", _meta } },
    ]);
    const rendered = told.filter((one) => !own.includes(one)).map(({ params }) => params);
    const alarm = `edge.${segment}.notifications/line/alarm`;
    const moved = `edge.${segment}.notifications/line/moved`;
    const logger = `edge.${segment}`;
    const expected = [
      {
        level: "warning",
        logger,
        data: { method: alarm, line: 7 },
        _meta: { ...ids, ..._meta, "x-mcpax-rendered": alarm },
      },
      {
        level: "info",
        logger,
        data: { method: moved, to: 3 },
        _meta: { ..._meta, "x-mcpax-rendered": moved },
      },
    ];
    expect(rendered).toEqual(kind === "v2 modern" ? [] : expected);
    expect(stranger.said()).toEqual([]);
  },
);

test.each(["v1", "v2 legacy"] as const)(
  "[AX-12-1] %s that set no level hears warnings, alarms and losses, and no chatter",
  async (kind) => {
    const segment = `calm-${kind.replace(" ", "-")}`;
    const stub = await leaf(root, segment);
    const place = await at(root);
    await expect.poll(() => names(place)).toContain(`${segment}.t`);
    const client = await hearing(kind, place);
    stub.notify(message, { level: "info", data: "chatter" });
    stub.notify("notifications/alarm", {});
    stub.notify(message, { level: "warning", data: "hot" });
    await expect.poll(() => client.of(message).length).toBe(2);
    stub.cut();
    await expect.poll(() => client.of(lost).length).toBe(1);
    await expect.poll(() => client.of(message).length).toBe(3);
    expect(client.of(message).map(({ level, data }) => [level, data.method ?? data])).toEqual([
      ["warning", `${segment}.notifications/alarm`],
      ["warning", "hot"],
      ["warning", lost],
    ]);
  },
);

test("[AX-12-1] a modern client that wished for nothing but changes hears nothing else", async () => {
  const stub = await leaf(root, "modest");
  const place = await at(root);
  await expect.poll(() => names(place)).toContain("modest.t");
  const stop = new AbortController();
  const listening = (wishes: object, meta: object = {}) =>
    streamOf(place, { notifications: { toolsListChanged: true, ...wishes } }, meta, stop.signal);
  const plain = await listening({});
  const logs = await listening({}, { "io.modelcontextprotocol/logLevel": "warning" });
  const foreign = await listening({ "org.mcpax/notifications": true });
  stub.notify("notifications/alarm", { n: 1 });
  stub.notify(message, { level: "error", data: "e" });
  stub.notify("notifications/tools/list_changed");
  await expect.poll(() => plain.map(({ method }) => method)).toContain("notifications/tools/list_changed");
  const methods = (heard: Message[]) =>
    heard.map(({ method }) => method).filter((method) => !method.endsWith("/list_changed"));
  const acknowledged = "notifications/subscriptions/acknowledged";
  await expect.poll(() => methods(logs)).toEqual([acknowledged, message, message]);
  await expect.poll(() => methods(foreign)).toEqual([acknowledged, "modest.notifications/alarm"]);
  expect(methods(plain)).toEqual([acknowledged]);
  stop.abort();
  expect(foreign[0].params.notifications).toEqual({
    toolsListChanged: true,
    "org.mcpax/notifications": true,
  });
  const bad = await ask(place, "subscriptions/listen", {
    notifications: { "org.mcpax/notifications": { logLevel: "loud" } },
  });
  expect(bad.message.error.code).toBe(-32602);
});

test.each(kinds)(
  "[AX-12-4] [AX-13.1-1] [AX-13.3-1] %s hears once of a lost subserver, and once of a lost aggregator",
  async (kind) => {
    const segment = `gone-${kind.replace(" ", "-")}`;
    const region = `region-${kind.replace(" ", "-")}`;
    const id = randomUUID();
    const one = await leaf(edge, segment, { subserver_id: id });
    const token = await root.token({ sub: region, topics: [], segment: region, scope: "write" } as never);
    const tools = [toolOf("one.t"), toolOf("two.t")];
    const aggregator = await rawRegistrant(root.url, token, { parentId: null, tools });
    await aggregator.register(registrationOf(region, { "x-mcpax-subtree-ids": [randomUUID()] }));
    const place = await at(root);
    const all = [`edge.${segment}.t`, `${region}.one.t`, `${region}.two.t`];
    await expect.poll(() => names(place)).toEqual(expect.arrayContaining(all));
    const client = await hearing(kind, place, "warning");
    one.cut();
    await expect.poll(() => client.of(lost).length).toBe(1);
    expect(bare(client.of(lost)[0])).toEqual({
      segment: `edge.${segment}`,
      subserver_id: id,
      reason: "subserver_unreachable",
      since: expect.stringMatching(/^\d{4}-/),
      _meta: route("edge", segment),
    });
    aggregator.cut();
    await expect.poll(() => client.of(lost).length).toBe(2);
    expect(client.of(lost)[1]).toMatchObject({ segment: region, _meta: route(region) });
    // Whatever else there was to say of them has been said before this.
    const marker = await leaf(root, `${segment}-end`);
    await expect.poll(() => names(place)).toContain(`${segment}-end.t`);
    marker.notify("notifications/end");
    await expect.poll(() => client.of(`${segment}-end.notifications/end`).length).toBe(1);
    expect(client.of(lost)).toHaveLength(2);
  },
);

test.each(kinds)(
  "[AX-6.3-4] [AX-6.3-5] who deregisters is gone two levels above at once, and %s is told",
  async (kind) => {
    const segment = `leaves-${kind.replace(" ", "-")}`;
    const stub = await rawRegistrant(
      edge.url,
      await edge.token({ sub: segment, topics: [], segment } as never),
      {
        parentId: null,
        tools: [toolOf("t")],
      },
    );
    registrants.push(stub);
    const { result } = await stub.register(registrationOf(segment));
    const place = await at(root);
    await expect.poll(() => names(place)).toContain(`edge.${segment}.t`);
    const client = await hearing(kind, place);
    const changes = () => client.of("notifications/tools/list_changed").length;
    const before = changes();
    await stub.request("mcpax/deregister", { session_id: result.session_id });
    await expect.poll(changes, { timeout: 5_000 }).toBeGreaterThan(before);
    // Long before its list would have been read again without a word.
    await expect.poll(() => names(place), { timeout: 5_000 }).not.toContain(`edge.${segment}.t`);
    expect(client.of(lost)).toEqual([]);
    expect((await callTool(place, `edge.${segment}.t`)).message.error.code).toBe(-32601);
  },
);

/** Every message of one `subscriptions/listen`, as it comes. */
async function streamOf(
  { url, token }: Place,
  params: object,
  meta: object,
  signal: AbortSignal,
): Promise<Message[]> {
  const heard: Message[] = [];
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    ...meta,
  };
  const response = await fetch(url, {
    method: "POST",
    signal,
    headers: {
      authorization: `Bearer ${token}`,
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "subscriptions/listen",
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: "l",
      method: "subscriptions/listen",
      params: { ...params, _meta },
    }),
  });
  const read = async () => {
    let text = "";
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>) {
      text += new TextDecoder().decode(chunk);
      const blocks = text.split("\n\n");
      text = blocks.pop() ?? "";
      for (const block of blocks) {
        const data = /^data: ?(.+)$/m.exec(block)?.[1];
        if (data !== undefined) heard.push(JSON.parse(data));
      }
    }
  };
  read().catch(() => {});
  await expect.poll(() => heard.length).toBeGreaterThan(0);
  return heard;
}

// MCP Apps through the tree, with the official package at both ends: a server's page is found and read by its client, and
// the page calls its own server's tools, by the names it knows, with gates before them.

import type { GateTerms } from "@mcpx/protocol";
import { Client, InMemoryTransport, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { App } from "@modelcontextprotocol/ext-apps";
import { AppBridge, getToolUiResourceUri } from "@modelcontextprotocol/ext-apps/app-bridge";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { newKey, sign } from "../gates/support/gate-room.ts";
import { programArgs } from "../support/programs.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

const alice = newKey();
const clock = (place: string) => ({
  command: process.execPath,
  args: [...programArgs("tests/clients/support/clock-app.ts"), place],
  trusted: true,
});
const desk = {
  command: process.execPath,
  args: [...programArgs("tests/clients/support/desk-server.ts"), "/dev/null"],
  trusted: true,
};
const gates = { hold: 100, anchors: [{ name: "alice", jwk: alice.jwk as { kty: string } }] };
let one: TestServer;
let two: TestServer;
let above: TestServer;

beforeAll(async () => {
  one = await startTestServer({ config: { mcpServers: { oslo: clock("Oslo"), papers: desk }, gates } });
  two = await startTestServer({
    config: { mcpServers: { oslo: clock("Oslo"), rome: clock("Rome") }, gates },
  });
  const token = await one.token({ sub: "above", topics: [], tools: ["**"] });
  const headers = { authorization: `Bearer ${token}` };
  above = await startTestServer({
    config: { mcpServers: { edge: { url: `${one.url}/mcp`, headers, trusted: true } }, gates },
  });
});

afterAll(async () => {
  for (const server of [above, one, two]) await server?.stop();
});

/** A client that shows apps, and the page it shows, each with its own end of the official package. */
async function hostAt(server: TestServer, id: string, tools = ["**"]) {
  const capabilities = {
    extensions: { "io.modelcontextprotocol/ui": { mimeTypes: ["text/html;profile=mcp-app"] } },
  };
  const client = new Client({ name: "host", version: "1.0.0" }, { capabilities });
  const headers = { authorization: `Bearer ${await server.token({ sub: id, topics: [], tools })}` };
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`), { requestInit: { headers } }),
  );
  const bridge = new AppBridge(
    client,
    { name: "host", version: "1.0.0" },
    { serverTools: {}, serverResources: {} },
  );
  const app = new App({ name: "page", version: "1.0.0" }, {}, { autoResize: false });
  const [here, there] = InMemoryTransport.createLinkedPair();
  await Promise.all([bridge.connect(here), app.connect(there)]);
  onTestFinished(() => client.close());
  const call = async (name: string) => (await app.callServerTool({ name, arguments: {} })).content;
  return { client, app, call };
}

const said = (text: string) => [{ type: "text", text }];

test("[B-CLIENT-1] a client finds the page of a tool and reads it, also where two servers have the same page", async () => {
  const { client, app } = await hostAt(two, "reader");
  const { tools } = await client.listTools();
  for (const [segment, place] of [
    ["oslo", "Oslo"],
    ["rome", "Rome"],
  ] as const) {
    const tool = tools.find(({ name }) => name === `${segment}__show_time`);
    const uri = tool === undefined ? "" : (getToolUiResourceUri(tool) ?? "");
    expect(uri).toBe(`ui://${segment}/ui://clock/view.html`);
    const { contents } = await client.readResource({ uri });
    expect(contents).toMatchObject([{ uri, mimeType: "text/html;profile=mcp-app", text: `<p>${place}</p>` }]);
    expect((await app.readServerResource({ uri })).contents).toMatchObject([{ text: `<p>${place}</p>` }]);
  }
  const { resources } = await client.listResources();
  expect(resources.map(({ uri }) => uri)).toContain("ui://rome/ui://clock/view.html");
  // COMPAT: as it was listed before.
  const { contents } = await client.readResource({ uri: "mcpx://oslo/ui://clock/view.html" });
  expect(contents).toMatchObject([{ text: "<p>Oslo</p>" }]);
});

test("[B-CLIENT-1] a page calls its own server's tools by the names it knows; two trees up, too", async () => {
  for (const server of [one, above]) {
    const { client, call } = await hostAt(server, "viewer");
    expect(await call("refresh")).toEqual(said("one o'clock in Oslo"));
    const { tools } = await client.listTools();
    const shown = tools.find(({ name }) => name.endsWith("__show_time"));
    const uri = shown === undefined ? "" : (getToolUiResourceUri(shown) ?? "");
    expect((await client.readResource({ uri })).contents).toMatchObject([{ text: "<p>Oslo</p>" }]);
  }
});

test("[B-CLIENT-1] a page calls nothing else: no tool of a server without pages, none that is kept for models, none its user may not use", async () => {
  const { call } = await hostAt(one, "curious");
  for (const name of ["look", "think", "gone"])
    await expect(call(name), name).rejects.toThrow(/tool|Method/i);
  const narrow = await hostAt(one, "narrow", ["oslo.show_time", "papers.*"]);
  await expect(narrow.call("refresh")).rejects.toThrow();
  expect(await narrow.call("show_time")).toEqual(said("noon in Oslo"));
});

test("[B-CLIENT-1] where two servers with pages have the tool, the page is told both names and nothing happens", async () => {
  const { call } = await hostAt(two, "confused");
  await expect(call("refresh")).rejects.toThrow("oslo__refresh, rome__refresh");
  expect(await call("rome__refresh")).toEqual(said("one o'clock in Rome"));
});

test("[B-CLIENT-1] a page's call stops at its gate as any other, and the page gets the result once it was approved", async () => {
  const { call } = await hostAt(one, "stopper");
  const stopped = call("stop");
  const id = await vi.waitFor(async () => {
    const { body } = await one.call("GET", "/admin/gates?status=pending", await one.adminToken());
    const [gate] = body.gates;
    expect(gate).toMatchObject({ tool: "oslo.stop", principal: "stopper" });
    return gate.id;
  });
  const { body } = await one.call("GET", `/approve/${id}/call`);
  const proof = await sign(body.terms as GateTerms, "approve", alice);
  expect((await one.call("POST", `/approve/${id}/decision`, undefined, { proof })).status).toBe(200);
  expect(await stopped).toEqual(said("the clock of Oslo has stopped"));
});

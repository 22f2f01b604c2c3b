// The official SDKs' clients as callers: version 1 speaks legacy, version 2 both.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as ClientOne } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportOne } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import {
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { expect, onTestFinished, test } from "vitest";
import { hearSteps } from "../../support/hear-steps.ts";
import { type OpenEndpoint, openEndpoint, until } from "./open-endpoint.ts";

const info = { name: "sdk", version: "1" };
const capabilities = { elicitation: {} };
const textOf = (result: unknown) => (result as { content: { text: string }[] }).content[0]?.text ?? "";
const accepted = { action: "accept" as const, content: { answer: "Ada" } };

async function connectOne({ url, token }: OpenEndpoint) {
  const client = new ClientOne(info, { capabilities });
  const transport = new TransportOne(new URL(url), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  client.setRequestHandler(ElicitRequestSchema, () => accepted);
  // Its types are of before `exactOptionalPropertyTypes`.
  await client.connect(transport as unknown as Parameters<typeof client.connect>[0]);
  onTestFinished(() => client.close());
  return { client, transport };
}

async function connectTwo({ url, token }: OpenEndpoint, mode: "legacy" | "auto" | { pin: string }) {
  const client = new Client(info, { capabilities, versionNegotiation: { mode } });
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  client.setRequestHandler("elicitation/create", () => accepted);
  await client.connect(transport);
  onTestFinished(() => client.close());
  return client;
}

test("[AX-1.1-1] version 1 works unmodified: tools, progress, messages, questions, changes, goodbye", async () => {
  const endpoint = await openEndpoint();
  const { client, transport } = await connectOne(endpoint);
  const heard: unknown[] = [];
  client.setNotificationHandler(
    LoggingMessageNotificationSchema,
    ({ params }) => void heard.push(params.data),
  );
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void heard.push("changed"));
  expect(client.getServerVersion()).toMatchObject({ name: "scripted" });
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("echo");
  const progress = hearSteps(transport);
  const result = await client.callTool({ name: "notifies", arguments: {} }, undefined, {
    onprogress: () => {},
  });
  expect([textOf(result), progress, heard]).toEqual(["done", [1, 2], ["half"]]);
  expect(JSON.parse(textOf(await client.callTool({ name: "asks", arguments: {} })))).toEqual({
    name: accepted,
  });
  await client.setLoggingLevel("debug");
  await client.subscribeResource({ uri: "test://a" });
  await until(() => {
    endpoint.tree.announce("notifications/tools/list_changed");
    expect(heard).toContain("changed");
  });
  const leaving = new AbortController();
  const slow = client.callTool({ name: "slow", arguments: {} }, undefined, { signal: leaving.signal });
  await until(() => expect(endpoint.tree.exchanges.at(-1)?.params.name).toBe("slow"));
  leaving.abort();
  await expect(slow).rejects.toThrow();
  await until(() => expect(endpoint.tree.exchanges.at(-1)?.signal.aborted).toBe(true));
  await transport.terminateSession();
  expect(endpoint.tree.left).toHaveLength(1);
});

test.each([["legacy" as const], ["auto" as const], [{ pin: "2026-07-28" }]])(
  "[AX-1.1-1] version 2 works unmodified, asking for %j",
  async (mode) => {
    const endpoint = await openEndpoint();
    const client = await connectTwo(endpoint, mode);
    expect((await client.listTools()).tools.map(({ name }) => name)).toContain("echo");
    const progress = hearSteps(client.transport ?? {});
    const onprogress = () => {};
    const result = await client.callTool({ name: "notifies", arguments: {} }, { onprogress });
    expect([textOf(result), progress]).toEqual(["done", [1, 2]]);
    const asked = await client.callTool({ name: "asksTwice", arguments: {} });
    expect(JSON.parse(textOf(asked))).toEqual([accepted, accepted, accepted]);
    await expect(client.callTool({ name: "nothing", arguments: {} })).rejects.toMatchObject({ code: -32601 });
    const leaving = new AbortController();
    const slow = client.callTool({ name: "slow", arguments: {} }, { signal: leaving.signal });
    await until(() => expect(endpoint.tree.exchanges.at(-1)?.params.name).toBe("slow"));
    leaving.abort();
    await expect(slow).rejects.toThrow();
    await until(() => expect(endpoint.tree.exchanges.at(-1)?.signal.aborted).toBe(true));
    expect(endpoint.tree.exchanges[0]?.caller.era).toBe(mode === "legacy" ? "legacy" : "modern");
  },
);

test("version 2 listens", async () => {
  const endpoint = await openEndpoint();
  const client = await connectTwo(endpoint, { pin: "2026-07-28" });
  const heard: string[] = [];
  client.setNotificationHandler("notifications/tools/list_changed", () => void heard.push("changed"));
  const subscription = await client.listen({ toolsListChanged: true });
  endpoint.tree.announce("notifications/tools/list_changed");
  await until(() => expect(heard).toEqual(["changed"]));
  await subscription.close();
  await until(() => expect(endpoint.tree.subscriptions.size).toBe(0));
});

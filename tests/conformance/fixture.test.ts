// The fixture is the same server in either era and over either transport: it offers the same, asks the same, and tells
// of changes; so that what differs behind an aggregator is the aggregator's doing.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterEach, describe, expect, test } from "vitest";
import { fixtureCommand, startFixture } from "./start-fixture.ts";

type Served = { transport: "http" | "stdio"; era: "legacy" | "modern" };

const served: Served[] = [
  { transport: "http", era: "legacy" },
  { transport: "http", era: "modern" },
  { transport: "stdio", era: "legacy" },
  { transport: "stdio", era: "modern" },
];

const stops: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop();
});

async function transportTo({ transport, era }: Served) {
  if (transport === "stdio") {
    const [command, ...args] = fixtureCommand("stdio", era);
    return new StdioClientTransport({ command, args });
  }
  const { url, stop } = await startFixture(era);
  stops.push(stop);
  return new StreamableHTTPClientTransport(new URL(url));
}

async function connect(to: Served): Promise<Client> {
  const mode = to.era === "modern" ? { pin: "2026-07-28" } : "legacy";
  const client = new Client(
    { name: "fixture-test", version: "1.0.0" },
    { capabilities: { elicitation: {}, sampling: {}, roots: {} }, versionNegotiation: { mode } },
  );
  client.setRequestHandler("elicitation/create", ({ params }) => ({
    action: "accept",
    content: params.message.includes("color") ? { color: "blue" } : { name: "Alice", ok: true },
  }));
  client.setRequestHandler("sampling/createMessage", () => ({
    role: "assistant",
    content: { type: "text", text: "Good day" },
    model: "test-model",
  }));
  client.setRequestHandler("roots/list", () => ({ roots: [{ uri: "file:///work" }] }));
  await client.connect(await transportTo(to));
  stops.push(() => client.close());
  return client;
}

async function call(client: Client, name: string, args: Record<string, unknown> = {}) {
  const { content } = await client.callTool({ name, arguments: args });
  const [first] = content;
  return first?.type === "text" ? first.text : undefined;
}

describe.for(served)("over $transport in the $era era the fixture", (to) => {
  test("offers every tool, prompt and resource", async () => {
    const client = await connect(to);
    const { tools } = await client.listTools();
    const { prompts } = await client.listPrompts();
    const { resources } = await client.listResources();
    expect({ tools: tools.length, prompts: prompts.length, resources: resources.length }).toEqual({
      tools: 36,
      prompts: 5,
      resources: 3,
    });
  });

  test.for([
    ["test_sampling", { prompt: "Hello" }, "LLM response: Good day"],
    ["test_input_required_result_elicitation", {}, "Hello, Alice!"],
    ["test_input_required_result_multi_round", {}, "Alice likes blue"],
    ["test_input_required_result_request_state", {}, "state-ok"],
    ["test_input_required_result_multiple_inputs", {}, "Good day Alice, you work in file:///work"],
    ["confirm_delete", { filename: "a.txt" }, "Deleted a.txt"],
  ] as const)("asks what %s needs", async ([name, args, said]) => {
    expect(await call(await connect(to), name, args)).toBe(said);
  });

  test("tells of changed lists and resources", async () => {
    const client = await connect(to);
    const heard: string[] = [];
    client.setNotificationHandler("notifications/tools/list_changed", () => void heard.push("tools"));
    client.setNotificationHandler("notifications/prompts/list_changed", () => void heard.push("prompts"));
    client.setNotificationHandler(
      "notifications/resources/updated",
      ({ params }) => void heard.push(params.uri),
    );
    const uri = "test://watched-resource";
    if (to.era === "legacy") await client.subscribeResource({ uri });
    else
      await client.listen({ toolsListChanged: true, promptsListChanged: true, resourceSubscriptions: [uri] });

    for (const what of ["tool_change", "prompt_change", "resource_update"]) {
      await call(client, `test_trigger_${what}`);
    }
    await expect.poll(() => heard.toSorted()).toEqual(["prompts", uri, "tools"]);
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toContain("test_extra_tool");
  });
});

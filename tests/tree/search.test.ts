// A profile with `search`, over real servers, by the official client.
import { dirname, join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import { hearSteps } from "../support/hear-steps.ts";
import { programArgs } from "../support/programs.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

const root = dirname(dirname(import.meta.dirname));
const everything = join(root, "node_modules/@modelcontextprotocol/server-everything/dist/index.js");
const fixture = programArgs("tests/conformance/fixture/main.ts");

let server: TestServer;
let client: Client;

beforeAll(async () => {
  server = await startTestServer({
    config: {
      mcpServers: {
        everything: { command: process.execPath, args: [everything, "stdio"] },
        fixture: {
          command: process.execPath,
          args: [...fixture, "--transport", "stdio", "--era", "legacy"],
        },
      },
      profiles: {
        search: { tools: ["everything.*", "fixture.*"], search: true, names: "safe" },
        some: { tools: ["everything.get-*"], search: true },
      },
    },
  });
  client = await connect("search");
});

afterAll(async () => {
  await client?.close();
  await server?.stop();
});

async function connect(profile: string, tools: readonly string[] = ["**"]): Promise<Client> {
  const token = await server.token({ sub: "agent", topics: [], tools });
  const transport = new StreamableHTTPClientTransport(new URL(`${server.url}/mcp/${profile}`), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  const connected = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "auto" } });
  await connected.connect(transport);
  return connected;
}

async function found(query: string, by = client): Promise<string[]> {
  const { structuredContent } = await by.callTool({ name: "find_tools", arguments: { query } });
  return (structuredContent as { tools: { name: string }[] }).tools.map(({ name }) => name);
}

test("the client sees three tools", async () => {
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["find_tools", "describe_tool", "call_tool"]);
});

test.each([
  ["add two numbers", "everything__get-sum"],
  ["sum", "everything__get-sum"],
  ["echo", "everything__echo"],
  ["repeat what I say: echo the message", "everything__echo"],
  ["environment variables", "everything__get-env"],
  ["print the environment", "everything__get-env"],
  ["tiny image", "everything__get-tiny-image"],
  ["compress a file", "everything__gzip-file-as-resource"],
  ["gzip", "everything__gzip-file-as-resource"],
  ["links to resources", "everything__get-resource-links"],
  ["long running operation with progress", "everything__trigger-long-running-operation"],
  ["turn logging on or off", "everything__toggle-simulated-logging"],
  ["structured content", "everything__get-structured-content"],
  ["returns a sound", "fixture__test_audio_content"],
  ["how errors are handled", "fixture__test_error_handling"],
  ["fails", "fixture__failing_job"],
  ["ask the model", "fixture__test_sampling"],
  ["JSON schema 2020", "fixture__json_schema_2020_12_tool"],
])("%j finds %s first", async (query, name) => {
  expect((await found(query))[0]).toBe(name);
});

test("what is found can be described and called, with progress, and is audited as itself", async () => {
  const name = "everything__trigger-long-running-operation";
  const { structuredContent } = await client.callTool({ name: "describe_tool", arguments: { name } });
  expect(structuredContent).toMatchObject({ name, inputSchema: { properties: { duration: {}, steps: {} } } });
  const progress = hearSteps(client.transport ?? {});
  const result = await client.callTool(
    { name: "call_tool", arguments: { name, arguments: { duration: 0.2, steps: 2 } } },
    { onprogress: () => {} },
  );
  expect(JSON.stringify(result.content)).toContain("Long running operation completed");
  expect(progress).toEqual([1, 2]);
  const token = await server.adminToken();
  await expect
    .poll(async () => {
      const { body } = await server.call("GET", "/admin/audit?action=tool.call", token);
      return body.records.map(({ subject }: { subject: string }) => subject);
    })
    .toContain("everything.trigger-long-running-operation");
});

test("the profile and the token bound what can be found", async () => {
  const narrow = await connect("some", ["everything.get-sum", "everything.echo"]);
  expect(await found("message sum image", narrow)).toEqual(["everything__get-sum"]);
  await narrow.close();
});

// Clients that lie about who they are, and models that call what is not there or wait for what is not theirs: they get no
// more than others do, and are told why.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { programArgs } from "../support/programs.ts";
import { startTestServer, type TestServer } from "../support/test-server.ts";

let server: TestServer;

beforeAll(async () => {
  const args = [...programArgs("tests/clients/support/desk-server.ts"), "/dev/null"];
  server = await startTestServer({
    config: {
      mcpServers: { papers: { command: process.execPath, args, trusted: true } },
      gates: { hold: 100 },
    },
  });
});

afterAll(() => server?.stop());

async function connect(id: string, name: string, extensions: Record<string, Record<string, string>> = {}) {
  const client = new Client({ name, version: "1.0.0" }, { capabilities: { extensions } });
  const tools = ["papers.*", "mcpax.wait"];
  const headers = { authorization: `Bearer ${await server.token({ sub: id, topics: [], tools })}` };
  const url = new URL(`${server.url}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  onTestFinished(() => client.close());
  return client;
}

const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);

test("[B-CLIENT-2] a client that says it is another, or a tree, gets other names and no other rights", async () => {
  const honest = await connect("honest", "somebody");
  const liars = [
    await connect("liar-1", "claude-code"),
    await connect("liar-2", "x".repeat(10_000)),
    await connect("liar-3", "mcpx", { "org.mcpax/aggregator": { version: "9.9.9" } }),
  ];
  const names = await namesOf(honest);
  expect(names).toHaveLength(7);
  for (const liar of liars) {
    const seen = await namesOf(liar);
    expect(seen.map((name) => name.replaceAll(".", "__"))).toEqual(names);
    // What cannot be undone waits for a human, whoever says to be asking.
    const shred = seen.find((name) => name.endsWith("shred")) ?? "";
    const { structuredContent } = await liar.callTool({ name: shred, arguments: { paper: "tax" } });
    expect(structuredContent).toMatchObject({ status: "confirmation_required" });
    await expect(liar.callTool({ name: "mcpax.status" })).rejects.toMatchObject({ code: -32601 });
  }
});

test.for(["papers__gone", "papers.gone", "gone", "mcpax__approve", "🦊", "x".repeat(5_000), "__proto__"])(
  "[B-CLIENT-1] a model that calls %s is told that there is no such tool",
  async (name) => {
    const client = await connect("model", "somebody");
    await expect(client.callTool({ name })).rejects.toMatchObject({
      code: -32601,
      data: { reason: "unknown_tool", suggestion: expect.any(String) },
    });
  },
);

test("[B-CLIENT-1] waiting for a stranger's ticket, or for none, says the same and shows nothing of it", async () => {
  const owner = await connect("owner", "somebody");
  const { structuredContent } = await owner.callTool({ name: "papers__shred", arguments: { paper: "will" } });
  const { confirmation_id: id } = structuredContent as { confirmation_id: string };
  const thief = await connect("thief", "somebody");
  const told = async (ticket: unknown) =>
    thief.callTool({ name: "mcpax__wait", arguments: { confirmation_id: ticket } }).then(
      (result) => result,
      ({ code, data, message }) => ({ code, reason: data.reason, message }),
    );
  const [stranger, none] = [await told(id), await told("nobody-has-this")];
  expect(stranger).toEqual(none);
  expect(stranger).toMatchObject({ reason: "confirmation_unknown" });
  expect(JSON.stringify(stranger)).not.toContain("will");
  expect(await told(7)).toMatchObject({ reason: "bad_params" });
});

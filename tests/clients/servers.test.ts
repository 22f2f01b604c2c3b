// The servers most people have, from npm, listed and called through the tree and beside it: whatever works directly works
// through us, and is the same. `MCPX_WRITE_SERVERS=1` writes docs/SERVERS.md.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { startTestServer } from "../support/test-server.ts";
import { installClients } from "./support/installed.ts";
import { type NpmServer, npmServers } from "./support/npm-servers.ts";
import { versionOf } from "./support/page.ts";

const page = join(import.meta.dirname, "..", "..", "docs", "SERVERS.md");
const limits = { timeout: 120_000 };
let dir = "";
const rows: string[] = [];

beforeAll(() => {
  dir = installClients(
    npmServers.map((server) => server.package),
    "MCPX_SERVERS_DIR",
  );
}, 900_000);

afterAll(() => {
  if (process.env.MCPX_WRITE_SERVERS !== "1") return;
  const text = readFileSync(page, "utf8");
  const head = text.slice(0, text.indexOf("| server |"));
  const table = [
    "| server | version | tools | same list | called | same result |",
    "|---|---|---|---|---|---|",
    ...rows,
  ];
  writeFileSync(page, `${head}${table.join("\n")}\n`);
});

function commandOf(server: NpmServer) {
  const at = join(dir, "node_modules", server.package);
  const { bin } = JSON.parse(readFileSync(join(at, "package.json"), "utf8"));
  const file = typeof bin === "string" ? bin : String(Object.values(bin)[0]);
  return { command: process.execPath, args: [join(at, file), ...(server.args ?? [])] };
}

/** Its tools by name, and what comes of its call. */
async function look(client: Client, { call }: NpmServer, before = "") {
  const { tools } = await client.listTools({}, limits);
  const named = tools
    .filter(({ name }) => name.startsWith(before))
    .map(({ name, description, inputSchema, outputSchema }) => ({
      name: name.slice(before.length),
      definition: JSON.stringify([description, inputSchema, outputSchema]),
    }));
  const told = await client
    .callTool({ ...call, name: `${before}${call.name}` }, undefined, limits)
    .catch((error: Error) => ({ error: error.message.replaceAll(before, "") }));
  const { _meta, ...result } = told as Record<string, unknown>;
  return { tools: named, result: JSON.stringify(result) };
}

/** What is another at every call: numbers of requests, times, paths of a process. */
const settled = (text: string) => text.replaceAll(/[0-9a-f]{8}-[0-9a-f-]{27}|\d+/g, "#");

test.for(npmServers)(
  "$package works through the tree as it does beside it",
  { timeout: 400_000 },
  async (one) => {
    const home = mkdtempSync(join(tmpdir(), "mcpx-server-"));
    onTestFinished(() => rmSync(home, { recursive: true, force: true }));
    const env = { PATH: process.env.PATH ?? "", HOME: home, ...one.env };
    const direct = new Client({ name: "direct", version: "1.0.0" });
    await direct.connect(new StdioClientTransport({ ...commandOf(one), env, stderr: "ignore", cwd: home }));
    const beside = await look(direct, one);
    await direct.close();
    const server = await startTestServer({
      config: { mcpServers: { it: { ...commandOf(one), env, cwd: home, timeout: 120_000 } } },
    });
    onTestFinished(() => server.stop());
    const client = new Client({ name: "through", version: "1.0.0" });
    const headers = {
      authorization: `Bearer ${await server.token({ sub: "it", topics: [], tools: ["**"] })}`,
    };
    const url = new URL(`${server.url}/mcp?names=canonical`);
    const transport = new StreamableHTTPClientTransport(url, { requestInit: { headers } });
    // Its types are of before `exactOptionalPropertyTypes`.
    await client.connect(transport as unknown as Parameters<typeof client.connect>[0]);
    onTestFinished(() => client.close());
    const { tools } = await client.listTools();
    const shown = tools.map(({ name }) => name).find((name) => name.startsWith("it.") && aliasOf(name, one));
    const through = await look(
      client,
      { ...one, call: { ...one.call, name: (shown ?? "it.").slice(3) } },
      "it.",
    );
    const isSameList =
      String(through.tools.map((tool) => tool.definition).toSorted()) ===
      String(beside.tools.map((tool) => tool.definition).toSorted());
    const isSameResult = settled(through.result) === settled(beside.result);
    const isError = beside.result.includes('"isError":true') || beside.result.startsWith('{"error"');
    rows.push(
      `| ${one.package} | ${versionOf(one.package, dir)} | ${beside.tools.length} | ${isSameList ? "yes" : "no"} | \`${one.call.name}\`${isError ? ", which fails here" : ""} | ${isSameResult ? "yes" : "no"} |`,
    );
    expect(through.tools.map((tool) => tool.definition).toSorted()).toEqual(
      beside.tools.map((tool) => tool.definition).toSorted(),
    );
    expect(settled(through.result)).toBe(settled(beside.result));
  },
);

/** Names of the tree are of `[a-z0-9_-]`: `API-get-self` is `api-get-self`. */
function aliasOf(shown: string, { call }: NpmServer): boolean {
  return shown.slice(3).toLowerCase() === call.name.toLowerCase();
}

// The official SDK's clients, version 1 and version 2 in both eras; and `mcp-remote`, which brings them to servers for
// programs that can only start a command.
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as ClientOne } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpOne } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { type Driver, type Session, toldOf } from "../support/driver.ts";
import type { Place } from "../support/stage.ts";

const bin = join(import.meta.dirname, "..", "..", "..", "node_modules", ".bin");

export const officialSdk: readonly Driver[] = [
  { client: "MCP SDK 1", package: "@modelcontextprotocol/sdk", connect: connectOne },
  { client: "MCP SDK 2, legacy", package: "@modelcontextprotocol/client", connect: two("legacy") },
  { client: "MCP SDK 2, modern", package: "@modelcontextprotocol/client", connect: two("modern") },
  { client: "mcp-remote", package: "mcp-remote", connect: connectRemote },
];

const headersOf = ({ token }: Place) => ({ headers: { authorization: `Bearer ${token}` } });
const info = { name: "plain", version: "1.0.0" };

async function connectOne(place: Place): Promise<Session> {
  const client = new ClientOne(info);
  const transport = new HttpOne(new URL(place.url), { requestInit: headersOf(place) });
  // Its types are of before `exactOptionalPropertyTypes`.
  await client.connect(transport as unknown as Parameters<typeof client.connect>[0]);
  return sessionOf(client);
}

function two(era: "legacy" | "modern") {
  return async (place: Place): Promise<Session> => {
    const mode = era === "legacy" ? ("legacy" as const) : { pin: "2026-07-28" };
    const client = new Client(info, { versionNegotiation: { mode } });
    await client.connect(
      new StreamableHTTPClientTransport(new URL(place.url), { requestInit: headersOf(place) }),
    );
    return sessionOf(client);
  };
}

async function connectRemote(place: Place): Promise<Session> {
  const client = new ClientOne(info);
  const header = `Authorization:Bearer ${place.token}`;
  const transport = new StdioClientTransport({
    command: join(bin, "mcp-remote"),
    args: [place.url, "--allow-http", "--header", header, "--transport", "http-only", "--silent"],
    env: { PATH: process.env.PATH ?? "", HOME: place.home, MCP_REMOTE_CONFIG_DIR: place.home },
    stderr: "ignore",
  });
  await client.connect(transport);
  return sessionOf(client);
}

// biome-ignore lint/suspicious/noExplicitAny: the two SDKs' clients have the same members
function sessionOf(client: any): Session {
  return {
    tools: async () => (await client.listTools()).tools.map(({ name }: { name: string }) => name),
    call: (name, args) =>
      toldOf(async () => {
        const { content, structuredContent, isError } = await client.callTool({ name, arguments: args });
        return { text: JSON.stringify([content, structuredContent]), isError: isError === true };
      }),
    close: () => client.close(),
  };
}

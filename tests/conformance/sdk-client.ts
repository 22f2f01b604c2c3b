// The least a client does, with the official SDK: connects in the era it is asked for, lists the tools and calls the
// one of the scenario `tools_call`. The suite starts it and appends the address of its server.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const url = process.argv.at(-1) ?? "";
const version = process.env.MCP_CONFORMANCE_PROTOCOL_VERSION ?? "2025-11-25";
const mode = version === "2026-07-28" ? { pin: version } : "legacy";

const client = new Client({ name: "sdk-client", version: "1.0.0" }, { versionNegotiation: { mode } });
await client.connect(new StreamableHTTPClientTransport(new URL(url)));
const { tools } = await client.listTools();
if (tools.some(({ name }) => name === "add_numbers")) {
  await client.callTool({ name: "add_numbers", arguments: { a: 2, b: 3 } });
}
await client.close();

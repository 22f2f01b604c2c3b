// A stdio MCP server whose tools are what a file says when they are listed. A call of any tool gives its arguments and
// the process back; a call of `crash` ends it. As a command: node changing-server.ts FILE
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [, , file = ""] = process.argv;

/** biome-ignore lint/suspicious/noExplicitAny: whatever comes over the wire */
function handle({ id, method, params }: any): void {
  const answer = (result: object) =>
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, result })}\n`);
  if (method === "initialize") {
    const serverInfo = { name: "changing", version: "1.0.0" };
    answer({ protocolVersion: "2025-11-25", capabilities: { tools: { listChanged: true } }, serverInfo });
  } else if (method === "tools/list") {
    answer({ tools: JSON.parse(readFileSync(file, "utf8")) });
  } else if (method === "tools/call" && params.name === "crash") {
    process.exit(1);
  } else if (method === "tools/call") {
    const said = { name: params.name, arguments: params.arguments ?? {}, pid: process.pid };
    answer({ content: [{ type: "text", text: JSON.stringify(said) }] });
  } else if (id !== undefined) {
    const error = { code: -32601, message: "Method not found" };
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, error })}\n`);
  }
}

createInterface({ input: process.stdin })
  .on("line", (line) => handle(JSON.parse(line)))
  .on("close", () => process.exit(0));

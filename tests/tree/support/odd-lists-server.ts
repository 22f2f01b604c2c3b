// A stdio server that is odd about its list: `--until FILE` answers no list before the file is there, `--alarm` says with
// every list that it has changed. Without either it is an ordinary one.
import { existsSync } from "node:fs";
import { createInterface } from "node:readline";

const flag = (name: string) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? undefined : (process.argv[at + 1] ?? "");
};
const until = flag("--until");
const isAlarming = process.argv.includes("--alarm");
const send = (message: object) => process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const { id, method } = JSON.parse(line);
    if (method === "initialize") {
      const serverInfo = { name: "odd", version: "1" };
      const capabilities = { tools: { listChanged: true } };
      send({ id, result: { protocolVersion: "2025-11-25", capabilities, serverInfo } });
    } else if (method === "tools/list") {
      if (until !== undefined && !existsSync(until)) return;
      if (isAlarming) send({ method: "notifications/tools/list_changed" });
      send({ id, result: { tools: [{ name: "work", inputSchema: { type: "object" } }] } });
    } else if (method === "tools/call") {
      send({ id, result: { content: [{ type: "text", text: "worked" }] } });
    } else if (id !== undefined) {
      send({ id, error: { code: -32601, message: "Method not found" } });
    }
  })
  .on("close", () => process.exit(0));

// A server of the tree with many tools, on standard input and output: what lists and searches have to go through.
import { createInterface } from "node:readline";

const count = Number(process.argv[2] ?? 1_000);
const subjects = ["record", "invoice", "sensor", "valve", "ticket", "image", "route", "contract"];
const verbs = ["read", "list", "compare", "export", "summarise", "verify"];
const tools = Array.from({ length: count }, (_, i) => {
  const subject = subjects[i % subjects.length];
  const verb = verbs[i % verbs.length];
  return {
    name: `${verb}_${subject}_${i}`,
    description: `Can ${verb} the ${subject} number ${i} of the archive, with all its fields and their history.`,
    inputSchema: {
      type: "object",
      properties: { id: { type: "string", description: `Which ${subject}.` }, limit: { type: "integer" } },
    },
    annotations: { readOnlyHint: true },
  };
});

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = resultOf(method, params);
  const error = { code: -32_601, message: "Method not found" };
  process.stdout.write(
    `${JSON.stringify({ jsonrpc: "2.0", id, ...(result === undefined ? { error } : { result }) })}\n`,
  );
});

function resultOf(method: string, params: { protocolVersion?: string } | undefined): object | undefined {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: params?.protocolVersion,
        capabilities: { tools: {}, resources: { subscribe: true } },
        serverInfo: { name: "archive", version: "1.0.0" },
      };
    case "tools/list":
      return { tools };
    case "tools/call":
      return { content: [{ type: "text", text: "done" }] };
    case "resources/list":
      return { resources: [{ uri: "archive:x", name: "x" }] };
    case "ping":
    case "resources/subscribe":
    case "resources/unsubscribe":
      return {};
    default:
      return undefined;
  }
}

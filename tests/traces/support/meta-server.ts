// A server over stdio whose tools answer with the `_meta` that came with the call.
import { createInterface } from "node:readline";

const tools = [
  { name: "shred", annotations: { destructiveHint: true }, inputSchema: { type: "object" } },
  { name: "look", annotations: { readOnlyHint: true }, inputSchema: { type: "object" } },
  { name: "fail", annotations: { readOnlyHint: true }, inputSchema: { type: "object" } },
];

type Message = { id?: number; method: string; params?: Record<string, unknown> };

function answer({ method, params = {} }: Message): unknown {
  if (method === "initialize")
    return {
      protocolVersion: params.protocolVersion,
      capabilities: { tools: {}, prompts: {}, resources: {}, completions: {} },
      serverInfo: { name: "meta", version: "1" },
    };
  if (method === "tools/list") return { tools };
  if (method === "prompts/list") return { prompts: [{ name: "ask" }] };
  if (method === "resources/list") return { resources: [{ uri: "file:///private", name: "private" }] };
  if (method === "resources/templates/list") return { resourceTemplates: [] };
  const said = JSON.stringify(params._meta ?? null);
  if (method === "prompts/get")
    return { messages: [{ role: "user", content: { type: "text", text: said } }] };
  if (method === "resources/read") return { contents: [{ uri: params.uri, text: said }] };
  if (method === "completion/complete") return { completion: { values: [said] } };
  if (method === "tools/call")
    return {
      content: [{ type: "text", text: JSON.stringify(params._meta ?? null) }],
      isError: params.name === "fail",
    };
  return undefined;
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line) as Message;
  if (message.id === undefined) return;
  const result = answer(message);
  const rest = result === undefined ? { error: { code: -32601, message: "no such method" } } : { result };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id: message.id, ...rest })}\n`);
});

// A stdio MCP server that tests can look into: it speaks lines of JSON and nothing but node, so that what it gets is
// what was sent. `--stubborn`: it ends neither with its input nor when asked, and neither does the child it has.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const isStubborn = process.argv.includes("--stubborn");
const isChild = process.argv.includes("--child");
const tools = ["params", "pids", "crash", "slow", "grow", "big", "ask"];

if (isStubborn) {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => {});
  setInterval(() => {}, 60_000);
}
const child =
  isStubborn && !isChild
    ? spawn(process.execPath, [...process.argv.slice(1), "--child"], { stdio: "ignore" })
    : undefined;
if (!isChild) serve();

function serve(): void {
  process.stderr.write("tiny is up\n");
  process.stdout.write("Welcome to tiny!\n");
  const input = createInterface({ input: process.stdin });
  input.on("line", (line) => handle(JSON.parse(line)));
  input.on("close", () => !isStubborn && process.exit(0));
}

// biome-ignore lint/suspicious/noExplicitAny: whatever comes over the wire
function handle({ id, method, params, error }: any): void {
  const answer = (result: object) => send({ id, result });
  if (method === "initialize") {
    process.stderr.write(`initialized with ${params.protocolVersion}\n`);
    const serverInfo = { name: "tiny", version: "1.2.3" };
    answer({
      protocolVersion: "2024-11-05",
      capabilities: { tools: { listChanged: true }, logging: {} },
      serverInfo,
    });
  } else if (method === "tools/list") {
    answer({ tools: tools.map((name) => ({ name, inputSchema: { type: "object" } })) });
  } else if (method === "tools/call") {
    call(id, params);
  } else if (method === "notifications/cancelled") {
    process.stderr.write("told that it is cancelled\n");
  } else if (id === "question") {
    process.stderr.write(`the question was answered with ${error?.code}\n`);
  }
}

// biome-ignore lint/suspicious/noExplicitAny: whatever comes over the wire
function call(id: unknown, params: any): void {
  const text = (value: unknown) => send({ id, result: { content: [{ type: "text", text: String(value) }] } });
  if (params.name === "params") text(JSON.stringify(params));
  else if (params.name === "pids") text(`${process.pid} ${child?.pid}`);
  else if (params.name === "crash") process.exit(3);
  else if (params.name === "slow") {
    const { progressToken } = params._meta;
    send({ method: "notifications/progress", params: { progressToken, progress: 1, total: 2 } });
  } else if (params.name === "grow") {
    tools.push("grown");
    send({ method: "notifications/tools/list_changed" });
    text("grown");
  } else if (params.name === "big") text("x".repeat(300_000));
  else if (params.name === "ask") {
    send({ id: "question", method: "roots/list" });
    text("asked");
  } else send({ id, error: { code: -32602, message: `no tool ${params.name}` } });
}

function send(message: object): void {
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
}

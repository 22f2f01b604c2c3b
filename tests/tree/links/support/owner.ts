// A process that has a server of its own and is killed by the test: `owner.ts ARGS…` starts the stubborn server, says
// what its processes are, and waits.
import { openLink } from "@mcpx/aggregator";

const transport = {
  type: "stdio",
  command: process.execPath,
  args: process.argv.slice(2),
  cwd: process.cwd(),
  env: {},
} as const;
const link = await openLink(
  { name: "mine", transport, clientInfo: { name: "owner", version: "1" }, capabilities: {} },
  { notification() {}, question: async () => ({}), logLine() {} },
);
const result = await link.request({
  method: "tools/call",
  params: { name: "pids", arguments: {} },
  capabilities: {},
  info: undefined,
  logLevel: undefined,
  wantsProgress: false,
  paramHeaders: {},
  signal: new AbortController().signal,
  notify() {},
  ask: async () => ({}),
});
process.stdout.write(`${(result.content as { text: string }[])[0]?.text}\n`);

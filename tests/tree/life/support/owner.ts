// A process with children of its own, to be killed by a test: `owner.ts COUNT COMMAND ARGS…` starts so many, prints
// their pids as one line, and waits.
import { openStdioWire } from "@mcpx/aggregator";

const [count, command = "", ...args] = process.argv.slice(2);
const transport = { type: "stdio", command, args, cwd: "/", env: { PATH: process.env.PATH } } as const;
const wires = await Promise.all(
  Array.from({ length: Number(count) }, () => openStdioWire(transport, { message() {}, logLine() {} })),
);
process.stdout.write(`${wires.map(({ pid }) => pid).join(" ")}\n`);

// A small modern server for these tests. It says hello on its standard error, and what secret it was given.
//   --stubborn: it ends neither with its input nor when asked   --starts FILE: a line for each start
// Its one tool in the list does what its name says: `pid`, or `crash`, whatever it is called by.
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";

const { values } = parseArgs({ options: { stubborn: { type: "boolean" }, starts: { type: "string" } } });
const { API_TOKEN, NAME = "it" } = process.env;
const tool = values.starts === undefined ? "pid" : "crash";

if (values.starts !== undefined) appendFileSync(values.starts, `${process.pid}\n`);
if (API_TOKEN !== undefined) process.stderr.write(`${NAME} is up\ntoken ${API_TOKEN}\n`);
if (values.stubborn) {
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => {});
  setInterval(() => {}, 60_000);
}

createInterface({ input: process.stdin })
  .on("line", (line) => {
    const { id, method } = JSON.parse(line);
    if (id !== undefined) answer(id, method);
  })
  .on("close", () => !values.stubborn && process.exit(0));

function answer(id: unknown, method: string): void {
  const reply = (result: object) =>
    process.stdout.write(
      `${JSON.stringify({ jsonrpc: "2.0", id, result: { resultType: "complete", ...result } })}\n`,
    );
  if (method === "server/discover") reply({ supportedVersions: ["2026-07-28"], capabilities: { tools: {} } });
  else if (method === "tools/list") reply({ tools: [{ name: tool, inputSchema: { type: "object" } }] });
  else if (method !== "tools/call") reply({});
  else if (tool === "pid") reply({ content: [{ type: "text", text: String(process.pid) }] });
  else {
    process.stderr.write("Error: no database\n    at crash (server.ts:1)\n");
    process.exit(3);
  }
}

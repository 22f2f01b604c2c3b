// A raw MCP server for the tree's tests: it speaks JSON and nothing but node, so that what it gets is what was sent and
// what it does is what its fault says. As a command:
//   node backend.ts [--transport stdio|http] [--fault NAME] [--record FILE] [--startMs N] [--era legacy|modern]
// Over HTTP it prints {"url"}, has a server for each fault at /FAULT, and ends when its standard input does.
import { appendFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { serveHttp } from "./backend-http.ts";
import { serveStdio } from "./backend-stdio.ts";
import { type FaultName, faults } from "./faults.ts";

const { values } = parseArgs({
  options: {
    transport: { type: "string", default: "stdio" },
    era: { type: "string", default: "legacy" },
    fault: { type: "string", default: "none" },
    record: { type: "string" },
    startMs: { type: "string", default: "0" },
  },
});

if (!Object.hasOwn(faults, values.fault)) throw new Error(`there is no fault ${values.fault}`);

/** Everything that came, one JSON text a line. */
function record(what: object): void {
  if (values.record !== undefined) appendFileSync(values.record, `${JSON.stringify(what)}\n`);
}

const isModern = values.era === "modern";
record({ start: process.pid, env: process.env, argv: process.argv, cwd: process.cwd() });
if (values.transport === "http")
  process.stdout.write(`${JSON.stringify({ url: await serveHttp({ isModern, record }) })}\n`);
else setTimeout(() => serveStdio(values.fault as FaultName, { isModern, record }), Number(values.startMs));

// What the suite starts as a client, once for each scenario: it hands the address and the context to the one process in
// which all of them run (serve-clients.ts), and ends as its scenario there has ended.
import { createConnection } from "node:net";
import { json } from "node:stream/consumers";

const [port, url] = process.argv.slice(2);
const socket = createConnection(Number(port), "127.0.0.1");
socket.end(JSON.stringify({ url, context: process.env.MCP_CONFORMANCE_CONTEXT ?? "{}" }));
const { fault } = await json(socket);
if (fault !== undefined) {
  process.stderr.write(`${fault}\n`);
  process.exitCode = 1;
}

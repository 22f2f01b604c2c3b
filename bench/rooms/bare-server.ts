// The least that a page of history can cost over HTTP: Node's server, with an answer of that size in its hand.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { reportCpuWhenAsked } from "./server-process.ts";

const answer = "x".repeat(Number(process.argv[2]));
const headers = { "content-type": "application/json", "content-length": answer.length };
const server = createServer((_, response) => response.writeHead(200, headers).end(answer));
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  process.send?.({ url: `http://127.0.0.1:${port}`, tokens: [] });
});
reportCpuWhenAsked();

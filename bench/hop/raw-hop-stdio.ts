// The least a hop from HTTP to a child's standard streams can do: bodies become lines and are passed on as they are;
// they are parsed only to know whose answer is whose. Callers' ids are taken to be unique. `raw-hop-stdio.ts COMMAND…`.
import { spawn } from "node:child_process";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";

const [command = "", ...args] = process.argv.slice(2);
const child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
const waiting = new Map<number, ServerResponse>();

createInterface({ input: child.stdout }).on("line", (line) => {
  const { id } = JSON.parse(line);
  const response = waiting.get(id);
  waiting.delete(id);
  const headers = { "content-type": "application/json", "content-length": Buffer.byteLength(line) };
  response?.writeHead(200, headers).end(line);
});

const server = createServer((request, response) => {
  let body = "";
  request.setEncoding("utf8");
  request.on("data", (chunk) => {
    body += chunk;
  });
  request.on("end", () => {
    const { id } = JSON.parse(body);
    if (id === undefined) response.writeHead(202).end();
    else waiting.set(id, response);
    child.stdin.write(`${body}\n`);
  });
});
server.listen(0, "127.0.0.1", () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp` });
});
process.on("disconnect", () => {
  child.kill();
  process.exit(0);
});

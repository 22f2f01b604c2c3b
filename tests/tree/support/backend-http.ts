// The raw server over HTTP: every fault at an address of its own, every answer a stream of events.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type BackendOptions, respond } from "./backend-methods.ts";
import { type Fault, type FaultName, faults } from "./faults.ts";

export async function serveHttp(options: BackendOptions): Promise<string> {
  const server = createServer(async (request, response) => {
    response.on("error", () => {});
    const body = await text(request).catch(() => "");
    options.record({ method: request.method, url: request.url, headers: request.rawHeaders, body });
    const fault: Fault | undefined = faults[(request.url ?? "").slice(1) as FaultName];
    if (fault === undefined || request.method !== "POST") {
      response.writeHead(fault === undefined ? 404 : 405).end();
      return;
    }
    let isRefused = false;
    fault.start?.({
      write: () => {},
      end: () => {
        isRefused = true;
        request.socket.destroy();
      },
    });
    if (isRefused) return;
    const message = JSON.parse(body);
    if (message.id === undefined || message.method === undefined) {
      response.writeHead(202).end();
      return;
    }
    response.on("close", () => response.writableEnded || options.record({ left: message.params?.name }));
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    respond(message, body, fault, options, {
      write: (line) => void response.write(`data: ${line}\n\n`),
      stream: (pieces) => {
        response.write("data: ");
        stream(response, pieces);
      },
      end: () => response.destroy(),
      done: () => void response.end(),
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  process.stdin.resume().once("end", () => process.exit(0));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function stream(response: ServerResponse, pieces: Iterator<string | Buffer>): void {
  for (let next = pieces.next(); !next.done; next = pieces.next()) {
    if (response.destroyed) return;
    if (response.write(next.value)) continue;
    response.once("drain", () => stream(response, pieces));
    return;
  }
  response.end("\n\n");
}

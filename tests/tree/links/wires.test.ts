// Every wire against a raw server of its medium.
import { once } from "node:events";
import { createServer } from "node:net";
import { userInfo } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { serveLaunch } from "../../../packages/aggregator/src/links/serve-launch.ts";
import { wireCases } from "../../../packages/aggregator/src/links/wire-cases.ts";
import { openHttpWire } from "../../../packages/aggregator/src/links/wire-http.ts";
import { openSseWire } from "../../../packages/aggregator/src/links/wire-sse.ts";
import { openStdioWire } from "../../../packages/aggregator/src/links/wire-stdio.ts";
import { scratch } from "../../cli/support/mcpx-process.ts";
import { events, json, type RawRequest, rawHttp } from "./support/raw-http.ts";
import { rawAnswer } from "./support/raw-methods.ts";

wireCases("stdio", async (taker, messageBytesMax) => {
  const args = [join(import.meta.dirname, "support", "raw-stdio.ts")];
  const command = { command: process.execPath, args, cwd: import.meta.dirname, env: {} };
  const wire = await openStdioWire(command, taker, { messageBytesMax });
  return { wire, seenClosed: async () => {} };
});

// A launcher's directory is root's.
if (process.getuid?.() === 0) {
  wireCases("stdio through a launcher", async (taker, messageBytesMax) => {
    const socket = join(scratch(), "me.sock");
    const launcher = createServer({ allowHalfOpen: true }, (one) => serveLaunch(one, { path: "" }));
    launcher.listen(socket);
    await once(launcher, "listening");
    onTestFinished(() => void launcher.close());
    const as = { user: userInfo().username, socket };
    const args = [join(import.meta.dirname, "support", "raw-stdio.ts")];
    const command = { command: process.execPath, args, cwd: "", env: {}, as };
    const wire = await openStdioWire(command, taker, { messageBytesMax });
    const count = () => new Promise((resolve) => launcher.getConnections((_, open) => resolve(open)));
    return { wire, seenClosed: async () => await expect.poll(count).toBe(0) };
  });
}

for (const form of ["json", "events"] as const) {
  wireCases(`http with ${form}`, async (taker, messageBytesMax) => {
    const server = await rawHttp((raw) => answerPost(raw, form));
    const wire = openHttpWire({ url: server.url }, taker, { messageBytesMax });
    const seenClosed = () => expect.poll(() => server.sockets.size).toBe(0);
    return { wire, seenClosed };
  });
}

function answerPost({ message, body, response }: RawRequest, form: "json" | "events"): void {
  const texts = rawAnswer(message, body);
  if (texts === undefined) {
    if (message.id === undefined) response.writeHead(202).end();
    return;
  }
  const isOne = texts.length === 1;
  const send = () => {
    if (form === "json" && isOne) json(response, texts[0]);
    else {
      events(response, texts);
      response.end();
    }
  };
  if (message.method === "slow") setTimeout(send, 300);
  else send();
}

wireCases("sse", async (taker, messageBytesMax) => {
  let write: (text: string) => void = () => {};
  const server = await rawHttp(({ request, response, message, body }) => {
    if (request.method === "GET") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write("event: endpoint\ndata: /post?session=1\n\n");
      write = (text) => void response.write(`event: message\ndata: ${text}\n\n`);
      return;
    }
    response.writeHead(202).end("Accepted");
    const send = () => (rawAnswer(message, body) ?? []).forEach(write);
    if (message.method === "slow") setTimeout(send, 300);
    else send();
  });
  const wire = await openSseWire({ url: `${server.origin}/sse` }, taker, AbortSignal.timeout(5_000), {
    messageBytesMax,
  });
  return { wire, seenClosed: () => expect.poll(() => server.sockets.size).toBe(0) };
});

// A forwarder to stand between the suite and the server under test: it adds headers the suite cannot send and may
// rewrite every JSON-RPC message on the way, also inside event streams. It judges nothing: Host and Origin go through
// as they came, only its own address becomes the target's.
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { type Rewrite, rewriteEvents, rewriteText } from "./rewrite.ts";

export interface FrontOptions {
  target: string;
  headers?: Record<string, string>;
  rewrite?: Rewrite;
}

export interface Front {
  url: string;
  stop(): Promise<void>;
}

const hopByHop = ["connection", "keep-alive", "transfer-encoding", "content-length"];

export async function startFront({ target, headers = {}, rewrite }: FrontOptions): Promise<Front> {
  const to = new URL(target);
  const server = createServer((incoming, outgoing) => {
    void forward(incoming, outgoing).catch(() => outgoing.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, to.hostname, resolve));
  const host = `${to.hostname}:${(server.address() as AddressInfo).port}`;

  async function forward(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    const sent: IncomingHttpHeaders = { ...without(incoming.headers, hopByHop), ...headers };
    if (sent.host === host) sent.host = to.host;
    if (sent.origin === `http://${host}`) sent.origin = to.origin;
    const body = await text(incoming);
    const rewritten = rewrite ? rewriteText(body, (message) => rewrite.request(message, sent)) : body;
    if (rewritten) sent["content-length"] = String(Buffer.byteLength(rewritten));
    const upstream = request(to, { method: incoming.method, headers: sent });
    outgoing.once("close", () => upstream.destroy());
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      upstream.once("response", resolve).once("error", reject);
      upstream.end(rewritten);
    });
    await giveBack(answer, outgoing, rewrite);
  }

  return {
    url: `http://${host}${to.pathname}${to.search}`,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function giveBack(answer: IncomingMessage, outgoing: ServerResponse, rewrite?: Rewrite): Promise<void> {
  outgoing.writeHead(answer.statusCode ?? 502, without(answer.headers, hopByHop));
  outgoing.flushHeaders();
  const type = answer.headers["content-type"] ?? "";
  if (rewrite && type.includes("text/event-stream")) {
    await pipeline(
      answer,
      (chunks: AsyncIterable<Buffer>) => rewriteEvents(chunks, rewrite.response),
      outgoing,
    );
  } else if (rewrite && type.includes("application/json")) {
    outgoing.end(rewriteText(await text(answer), rewrite.response));
  } else {
    await pipeline(answer, outgoing);
  }
}

function without(headers: IncomingHttpHeaders, names: string[]): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !names.includes(name)));
}

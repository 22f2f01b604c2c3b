// A gateway that lies: a proxy before an honest one, which passes everything on and changes what a test wants changed
// in what its clients are told, live and in the history. Its numbers stay dense, as a liar's would.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { splitList } from "@mcpx/protocol";
import { onTestFinished } from "vitest";
import WebSocket, { WebSocketServer } from "ws";

/** What clients get in the place of one published envelope: nothing, it, another, or several. */
export type Lie = (text: string) => string[];

export interface LyingGateway {
  readonly url: string;
  lie: Lie;
  /** What clients get in the place of a notice of presence. */
  presence: (text: string) => string;
}

export async function startLyingGateway(honestUrl: string): Promise<LyingGateway> {
  const server = createServer((request, response) => void passOn(request, response));
  const sockets = new WebSocketServer({ server });
  const liar = { url: "", lie: (text) => [text], presence: (text) => text } as {
    -readonly [Name in keyof LyingGateway]: LyingGateway[Name];
  };

  async function passOn(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { authorization = "", "content-type": type = "" } = request.headers;
    const answer = await fetch(`${honestUrl}${request.url}`, {
      method: request.method ?? "GET",
      headers: { authorization, "content-type": type },
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    });
    const text = await answer.text();
    response.writeHead(answer.status, { "content-type": "application/json" });
    response.end(request.url?.includes("/history") ? lyingPage(text) : text);
  }

  /** Newest first on the wire; lies are told in the order of the room. */
  function lyingPage(text: string): string {
    const told = splitList(text, ["envelopes"])
      .reverse()
      .flatMap((one) => liar.lie(one));
    return `{"envelopes":[${told
      .map((one, at) => numbered(one, at + 1))
      .reverse()
      .join(",")}]}`;
  }

  sockets.on("connection", (client, request) => {
    const honest = new WebSocket(`${honestUrl.replace("http", "ws")}${request.url}`);
    let seq = 0;
    client.on("message", (data) => honest.send(String(data)));
    client.on("close", () => honest.close());
    honest.on("close", (code) => client.close(code >= 3_000 ? code : 1_000));
    honest.on("message", (data) => {
      const text = String(data);
      const { kind, payload, seq: number } = JSON.parse(text);
      if (payload.event === "welcome") seq = payload.history.seq;
      if (number !== undefined) for (const one of liar.lie(text)) client.send(numbered(one, ++seq));
      else client.send(kind === "presence" ? liar.presence(text) : text);
    });
  });

  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    for (const socket of sockets.clients) socket.terminate();
    server.closeAllConnections();
    server.close();
  });
  return Object.assign(liar, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

function numbered(text: string, seq: number): string {
  return text.replace(/,"seq":\d+,"at":/, `,"seq":${seq},"at":`);
}

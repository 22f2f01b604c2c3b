// A request as bytes, and the facts of its answer with as little work as will do: whoever attacks saves it, too.
import type { Attack, Going, Request, Target } from "./attack.ts";

/** Signed by nobody, and as long as a real one. */
function forged(token: string): string {
  const [head, claims, signature = ""] = token.split(".");
  return `${head}.${claims}.${[...signature].toReversed().join("")}`;
}

export function tokenOf({ token }: Target, as: Attack["as"]): string | undefined {
  if (as === "none") return undefined;
  return as === "token" ? token : forged(token);
}

export function credentialOf(target: Target, as: Attack["as"]): Record<string, string> {
  const token = tokenOf(target, as);
  return token === undefined ? {} : { authorization: `Bearer ${token}` };
}

/** Head and body, for each connection the same bytes every time. */
export async function requestBytes(request: Request, going: Going): Promise<(lane: number) => Buffer> {
  const { target, attack } = going;
  const body = Buffer.from(request.body?.(attack.bytes) ?? "");
  const { host } = new URL(target.url);
  const headers: Record<string, string> = {
    host,
    ...credentialOf(target, attack.as),
    ...(body.length > 0 && {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      "content-length": String(body.length),
    }),
    ...request.headers,
    ...(request.session !== undefined && (await openSession(request.session, going))),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const epoch = request.path.includes("{epoch}") ? await epochOf(going) : "";
  return (lane) => {
    const path = request.path.replace("{lane}", String(lane)).replace("{epoch}", epoch);
    return Buffer.concat([Buffer.from(`${request.method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`), body]);
  };
}

async function openSession(revision: string, { target, attack }: Going): Promise<Record<string, string>> {
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...credentialOf(target, attack.as),
  };
  const params = {
    protocolVersion: revision,
    capabilities: {},
    clientInfo: { name: "attacker", version: "1" },
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params });
  const answer = await fetch(`${target.url}/mcp`, { method: "POST", headers, body });
  await answer.text();
  const session = answer.headers.get("mcp-session-id") ?? "none";
  return { "mcp-session-id": session, "mcp-protocol-version": revision };
}

/** The welcome of a room says it. */
async function epochOf({ target }: Going): Promise<string> {
  const { default: WebSocket } = await import("ws");
  const socket = new WebSocket(`${target.url.replace("http", "ws")}/v0/ws?topic=lab/full`, {
    headers: { authorization: `Bearer ${target.token}` },
  });
  const first = await new Promise<string>((resolve, reject) => {
    socket.once("message", (data) => resolve(String(data)));
    socket.once("error", reject);
  });
  socket.terminate();
  return JSON.parse(first).payload.history.epoch;
}

/** Reads answers one after the other; `done` gets the status, with `error` behind it where JSON-RPC says so. */
export function answerReader(done: (answer: string) => void): (chunk: Buffer) => void {
  let head = "";
  let beginning = "";
  let left = 0;
  let isChunked = false;
  const finish = () => {
    const isError = head.startsWith("HTTP/1.1 200") && beginning.includes('"error":{');
    const status = head.slice(9, 12);
    head = "";
    beginning = "";
    done(isError ? `${status} with an error` : status);
  };
  return (chunk) => {
    let rest = chunk;
    if (!head.endsWith("\r\n\r\n")) {
      const text = head + chunk.toString("latin1", 0, 16_384);
      const end = text.indexOf("\r\n\r\n");
      if (end === -1) {
        head = text;
        return;
      }
      rest = chunk.subarray(end + 4 - head.length);
      head = text.slice(0, end + 4);
      const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1];
      isChunked = /\r\ntransfer-encoding: chunked/i.test(head);
      left = Number(length ?? 0);
    }
    if (beginning.length < 400) beginning += rest.toString("latin1", 0, 400);
    left -= rest.length;
    if (isChunked ? rest.subarray(-5).toString("latin1") === "0\r\n\r\n" : left <= 0) finish();
  };
}

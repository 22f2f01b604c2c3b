// What the load says to a endpoint, in its manner: modern (stateless), legacy (initialize and a session) or the SSE
// transport of 2024. Every answer's id and text are checked.
import { get } from "node:http";
import { type HttpAnswer, HttpConnection, headerOf } from "./http-connection.ts";

export type Manner = "modern" | "legacy" | "sse";

export interface Target {
  url: string;
  manner: Manner;
  /** The tool's name at this endpoint. */
  tool: string;
  token?: string;
}

/** Calls the tool over this connection; `done` when the right answer has come. Throws or breaks on a wrong one. */
export type Call = (connection: HttpConnection, id: number, done: () => void) => void;

/** Ids have one length, so that all requests do. */
export const firstId = 1_000_000;

const modernMeta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "load", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
const legacyRevision = "2025-06-18";

export async function openSession(target: Target): Promise<Call> {
  if (target.manner === "sse") return openSse(target);
  const headers: Record<string, string> = { "mcp-protocol-version": legacyRevision };
  if (target.manner === "modern") {
    headers["mcp-protocol-version"] = modernMeta["io.modelcontextprotocol/protocolVersion"];
    headers["mcp-method"] = "tools/call";
    headers["mcp-name"] = target.tool;
  } else {
    const answer = await post(target, {}, initialize);
    messageOf(answer, 1);
    const session = headerOf(answer.head, "mcp-session-id");
    if (session !== undefined) headers["mcp-session-id"] = session;
    await post(target, headers, initialized);
  }
  const request = callTemplate(target, target.url, headers);
  return (connection, id, done) => {
    connection.ask(request(id), (answer) => {
      check(messageOf(answer, id), id);
      done();
    });
  };
}

const initialize = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: {
    protocolVersion: legacyRevision,
    capabilities: {},
    clientInfo: { name: "load", version: "1.0.0" },
  },
};
const initialized = { jsonrpc: "2.0", method: "notifications/initialized" };

/** Requests are POSTed, answers come on one long stream. */
async function openSse(target: Target): Promise<Call> {
  const waiting = new Map<number, (message: Message) => void>();
  const endpoint = await new Promise<string>((resolve, reject) => {
    get(target.url, { headers: { accept: "text/event-stream" } }, (stream) => {
      let rest = "";
      stream.setEncoding("utf8");
      stream.on("data", (chunk: string) => {
        const events = (rest + chunk).split("\n\n");
        rest = events.pop() ?? "";
        for (const event of events) {
          const data = dataOf(event);
          if (event.startsWith("event: endpoint")) {
            resolve(new URL(data, target.url).href);
          } else if (data !== "") {
            const message: Message = JSON.parse(data);
            waiting.get(Number(message.id))?.(message);
          }
        }
      });
    }).on("error", reject);
  });
  const isInitialized = new Promise((resolve) => waiting.set(1, resolve));
  await post({ ...target, url: endpoint }, {}, initialize);
  await isInitialized;
  await post({ ...target, url: endpoint }, {}, initialized);
  const request = callTemplate(target, endpoint, {});
  return (connection, id, done) => {
    let left = 2;
    const part = () => {
      left -= 1;
      if (left === 0) done();
    };
    waiting.set(id, (message) => {
      waiting.delete(id);
      check(message, id);
      part();
    });
    connection.ask(request(id), ({ status, body }) => {
      if (status !== 202) throw new Error(`answered ${status}: ${body}`);
      part();
    });
  };
}

function callTemplate(
  { tool, manner, token }: Target,
  url: string,
  headers: Record<string, string>,
): (id: number) => string {
  const id = "#id#";
  const params = {
    name: tool,
    arguments: { text: `text-${id}` },
    ...(manner === "modern" ? { _meta: modernMeta } : {}),
  };
  const body = JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params }).replace(`"${id}"`, id);
  const length = body.length - 2 * id.length + 2 * String(firstId).length;
  const [start = "", middle = "", end = ""] = (head(url, token, headers, length) + body).split(id);
  return (id) => `${start}${id}${middle}${id}${end}`;
}

function head(
  url: string,
  token: string | undefined,
  headers: Record<string, string>,
  length: number,
): string {
  const { host, pathname, search } = new URL(url);
  const lines = [
    `POST ${pathname}${search} HTTP/1.1`,
    `host: ${host}`,
    "content-type: application/json",
    "accept: application/json, text/event-stream",
    ...(token === undefined ? [] : [`authorization: Bearer ${token}`]),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    `content-length: ${length}`,
  ];
  return `${lines.join("\r\n")}\r\n\r\n`;
}

async function post(
  { url, token }: Target,
  headers: Record<string, string>,
  message: object,
): Promise<HttpAnswer> {
  const body = JSON.stringify(message);
  const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
  const connection = await HttpConnection.connect(url, reject);
  connection.ask(head(url, token, headers, body.length) + body, resolve);
  try {
    return await promise;
  } finally {
    connection.close();
  }
}

interface Message {
  id?: number;
  result?: { isError?: boolean; content?: { text?: string }[] };
}

function dataOf(event: string): string {
  return event
    .split("\n")
    .filter((line) => line.startsWith("data:"))
    .map((line) => line.slice(5).trim())
    .join("\n");
}

/** The answer to this id: the body itself, or an event in it. */
function messageOf({ status, head, body }: HttpAnswer, id: number): Message {
  if (status !== 200) throw new Error(`answered ${status}: ${body}`);
  const isStream = headerOf(head, "content-type")?.startsWith("text/event-stream") === true;
  const texts = isStream ? body.split(/\r?\n\r?\n/).map(dataOf) : [body];
  for (const text of texts) {
    const message: Message | undefined = text === "" ? undefined : JSON.parse(text);
    if (message?.id === id) return message;
  }
  throw new Error(`no answer to ${id} in ${body}`);
}

function check(message: Message, id: number): void {
  const { result } = message;
  const isRight = message.id === id && result?.content?.[0]?.text === `text-${id}` && result.isError !== true;
  if (!isRight) throw new Error(`a wrong answer to ${id}: ${JSON.stringify(message)}`);
}

// The application service's own end: the routes that a homeserver calls, authenticated by its token, each transaction
// taken once and acknowledged when it was handled.
import { createHash, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { isObject, type JsonObject } from "@mcpx/protocol";
import { PlatformError } from "../platform.ts";

export interface MatrixServiceOptions {
  host: string;
  port: number;
  /** Asked for at each request. */
  hsToken(): string;
  isOwnUser(user: string): boolean;
  /** Resolves when everything was handled; what rejects is delivered again. */
  take(events: JsonObject[]): Promise<void>;
}

const bodyBytesMax = 10_000_000;
const transactionsMax = 100;
const bodyMs = 30_000;
/** One homeserver brings one transaction at a time. */
const connectionsMax = 100;

export async function openMatrixService(options: MatrixServiceOptions): Promise<{ close(): Promise<void> }> {
  const done = new Set<string>();
  const server = createServer({ requestTimeout: bodyMs }, (request, response) => {
    answer(request, options, done).then(
      ({ status, body }) => send(response, status, body),
      () => send(response, 500, { errcode: "M_UNKNOWN", error: "it could not be handled" }),
    );
  });
  server.maxConnections = connectionsMax;
  server.listen(options.port, options.host);
  try {
    await once(server, "listening");
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new PlatformError("down", `the application service cannot listen: ${why}`, { cause });
  }
  return {
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

interface Answer {
  status: number;
  body: JsonObject;
}

const ok: Answer = { status: 200, body: {} };

async function answer(
  request: IncomingMessage,
  options: MatrixServiceOptions,
  done: Set<string>,
): Promise<Answer> {
  const { pathname } = new URL(request.url ?? "/", "http://x");
  const given = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
  if (given === undefined)
    return { status: 401, body: fault("M_UNAUTHORIZED", "the homeserver's token is missing") };
  if (!isSame(given, options.hsToken()))
    return { status: 403, body: fault("M_FORBIDDEN", "not the homeserver's token") };
  const [, kind, name = ""] =
    /^\/_matrix\/app\/v1\/(transactions|users|rooms|ping)(?:\/([^/]+))?$/.exec(pathname) ?? [];
  const route = `${request.method} ${kind}`;
  if (route === "PUT transactions") return takeTransaction(decodeURIComponent(name), request, options, done);
  if (route === "POST ping") return ok;
  if (route === "GET users" && options.isOwnUser(decodeURIComponent(name))) return ok;
  if (route === "GET users" || route === "GET rooms")
    return { status: 404, body: fault("M_NOT_FOUND", "not an address of this bridge") };
  return {
    status: kind === undefined ? 404 : 405,
    body: fault("M_UNRECOGNIZED", "this address or method is not known"),
  };
}

async function takeTransaction(
  id: string,
  request: IncomingMessage,
  { take }: MatrixServiceOptions,
  done: Set<string>,
): Promise<Answer> {
  const body = await readJson(request);
  const events = isObject(body) && Array.isArray(body.events) ? body.events.filter(isObject) : undefined;
  if (events === undefined)
    return { status: 400, body: fault("M_BAD_JSON", "a transaction has a list of events") };
  if (done.has(id)) return ok;
  await take(events);
  done.add(id);
  const [oldest] = done;
  if (done.size > transactionsMax && oldest !== undefined) done.delete(oldest);
  return ok;
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bodyBytesMax) return undefined;
    chunks.push(chunk);
  }
  try {
    return JSON.parse(Buffer.concat(chunks).toString("utf8"));
  } catch {
    return undefined;
  }
}

function isSame(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return wanted !== "" && timingSafeEqual(digest(given), digest(wanted));
}

function fault(errcode: string, error: string): JsonObject {
  return { errcode, error };
}

function send(response: ServerResponse, status: number, body: JsonObject): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

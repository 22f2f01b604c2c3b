// One request to one answer: look at the stranger, find the route, ask its handler, render what it says.
import type { IncomingMessage, ServerResponse } from "node:http";
import { errorTable, isMcpxError, type Limits, McpxError, type ShapeBounds } from "@mcpx/protocol";
import type { Hold } from "../fair/byte-ledger.ts";
import type { Logger } from "../logging/log.ts";
import type { Histogram, Metrics } from "../logging/metrics.ts";
import type { Connections } from "./connections.ts";
import { cutOffStalled } from "./cut-off-stalled.ts";
import { createInTurn } from "./in-turn.ts";
import { createRequest, type HttpRequest, pathOf } from "./request.ts";
import { errorResponse, type HttpResponse, type Rendered, render } from "./response.ts";
import { createResponseStream } from "./response-stream.ts";
import { createRouter, type Found, type Route } from "./routes.ts";
import { checkStranger, type StrangerRules } from "./strangers.ts";

/** More than this of a refused request's body is not read for the sake of its connection. */
const unreadBytesMax = 65_536;
/** What reading a request's lines has cost before it was known whose it is. */
const requestMs = 0.05;

/** What a request that waits takes in memory beside its headers, and each text of these beside its characters. */
const requestBytes = 8_192;
const bytesPerText = 48;

/** What people and programs write has fewer values; what builds something of every other byte is made to cost time. */
const bytesPerValue = 8;

export interface AnswerOptions {
  rules: StrangerRules;
  routes: readonly Route[];
  limits: Pick<Limits, "bodyBytesMax" | "queueBytesMax" | "queueStallMs" | "mcpDepthMax" | "valuesMax">;
  log: Logger;
  metrics: Metrics | undefined;
  connections: Connections;
  isUpgradePath(path: string): boolean;
  isClosing(): boolean;
}

function shapeOf(
  bytesMax: number,
  { mcpDepthMax: depthMax, valuesMax }: Pick<Limits, "mcpDepthMax" | "valuesMax">,
): ShapeBounds {
  return { depthMax, valuesMax: Math.min(valuesMax, Math.ceil(bytesMax / bytesPerValue)) };
}

export function createAnswer(
  options: AnswerOptions,
): (raw: IncomingMessage, response: ServerResponse) => Promise<void> {
  const { rules, limits, log, connections } = options;
  const route = createRouter(options.routes);
  const took = options.metrics && createStopwatch(options.metrics);
  const inTurn = createInTurn();

  return async (raw, response) => {
    const isMyTurn = inTurn(raw.socket, response);
    if (isMyTurn !== true && !(await heldMeanwhile(raw, isMyTurn))) return;
    const turn = connections.turn(raw, requestMs);
    if (turn !== undefined) await turn;
    // The client may have left while its request waited.
    if (raw.socket.destroyed) return;
    const startedAt = performance.now();
    let found: Found | undefined;
    let origin: string | undefined;
    let rendered: Rendered;
    let stream: HttpResponse["stream"];
    try {
      origin = checkStranger(raw, rules);
      const path = pathOf(raw);
      found = route(raw.method ?? "GET", path);
      const { params = {}, bodyBytesMax = limits.bodyBytesMax } = found ?? {};
      const body = { bytesMax: bodyBytesMax, shape: shapeOf(bodyBytesMax, limits) };
      const request = createRequest(raw, { params, body, rules, response, connections });
      if (found === undefined) throw unknownAddress(options.isUpgradePath(path));
      const answer =
        raw.method === "OPTIONS" && origin !== undefined
          ? preflight(found, raw.headers["access-control-request-headers"])
          : await handle(found, request);
      // What it waited for may have been brought by somebody else's work.
      connections.charge(raw);
      rendered = render(withCors(answer, origin));
      // Here, so that headers Node refuses are a fault of the handler like any other.
      writeHead(raw, response, rendered);
      stream = answer.stream;
    } catch (error) {
      logRefusal(log, error, found?.path);
      const answer = errorResponse(error);
      const allow = isMethodFault(error) && found !== undefined ? { allow: allowed(found) } : {};
      rendered = render(withCors({ ...answer, headers: { ...answer.headers, ...allow } }, origin));
      writeHead(raw, response, rendered);
    }
    if (stream === undefined) sendWhole(raw, response, rendered.content);
    else startStream(stream, response);
    took?.(found?.path ?? "none", methodShown(raw, found), rendered.status, performance.now() - startedAt);
  };

  /** A request that was sent ahead is kept until it can begin; where there is no room for that, its client is cut off. */
  async function heldMeanwhile(raw: IncomingMessage, isMyTurn: Promise<boolean>): Promise<boolean> {
    let held: Hold | undefined;
    try {
      held = connections.hold(raw, headBytes(raw));
    } catch {
      raw.socket.destroy();
    }
    const isBegun = await isMyTurn;
    held?.release();
    return isBegun;
  }

  function writeHead(raw: IncomingMessage, response: ServerResponse, { status, headers }: Rendered): void {
    if (options.isClosing() || hasLongBody(raw)) {
      headers.connection = "close";
    }
    response.writeHead(status, headers);
  }

  function sendWhole(raw: IncomingMessage, response: ServerResponse, content: Rendered["content"]): void {
    response.end(content);
    if (response.writableLength === 0) return;
    const settle = cutOffStalled(response, limits.queueStallMs);
    const held = holdUnread(raw, response, content);
    response.once("close", () => {
      settle();
      held?.release();
    });
  }

  /** A text that was made for one reader, and not taken by it; where there is no room for that, its connection ends. */
  function holdUnread(
    raw: IncomingMessage,
    response: ServerResponse,
    content: Rendered["content"],
  ): Hold | undefined {
    // Files are there once, however many read them.
    if (typeof content !== "string") return undefined;
    try {
      return connections.hold(raw, content.length);
    } catch {
      response.destroy();
      return undefined;
    }
  }

  function startStream(stream: NonNullable<HttpResponse["stream"]>, response: ServerResponse): void {
    // So that the client knows at once that it is one.
    response.flushHeaders();
    try {
      stream(createResponseStream(response, limits));
    } catch (error) {
      log.error({ err: error }, "response stream failed unexpectedly");
      response.destroy();
    }
  }
}

/** What a request takes in memory before anything of it is read. */
function headBytes({ rawHeaders }: IncomingMessage): number {
  return rawHeaders.reduce((sum, { length }) => sum + length + bytesPerText, requestBytes);
}

/** Each method that is counted for itself makes `/metrics` longer, and anybody can send any of three dozen anywhere. */
function methodShown({ method = "" }: IncomingMessage, found: Found | undefined): string {
  return (found?.methods ?? ["GET", "POST"]).includes(method) ? method : "other";
}

type Took = (route: string, method: string, status: number, ms: number) => void;

/** Labels are looked up once for each of their few combinations: doing so costs more than counting. */
function createStopwatch(metrics: Metrics): Took {
  const duration = metrics.histogram(
    "http_request_seconds",
    "Time to answer an HTTP request",
    [0.001, 0.01, 0.1, 1, 10],
    ["route", "method", "status"],
  );
  const labelled = new Map<string, Histogram.Internal<"route" | "method" | "status">>();
  return (route, method, status, ms) => {
    const key = `${status} ${method} ${route}`;
    let one = labelled.get(key);
    if (one === undefined) {
      one = duration.labels({ route, method, status });
      labelled.set(key, one);
    }
    one.observe(ms / 1_000);
  };
}

/** Callers' faults are ordinary; ours are logged with their cause, anything unforeseen with its stack. */
export function logRefusal(log: Logger, error: unknown, route: string | undefined): void {
  if (!isMcpxError(error)) log.error({ err: error, route }, "request failed unexpectedly");
  else if (errorTable[error.code].fault === "gateway") log.warn({ err: error, route }, "request failed");
  else log.debug({ reason: error.code, route }, "request refused");
}

function handle(found: Found, request: HttpRequest): Promise<HttpResponse> | HttpResponse {
  if (found.handle === undefined) throw new McpxError("method_not_allowed");
  return found.handle(request);
}

function isMethodFault(error: unknown): boolean {
  return isMcpxError(error) && error.code === "method_not_allowed";
}

function unknownAddress(isUpgradePath: boolean): McpxError {
  return isUpgradePath
    ? new McpxError("bad_request", "this address accepts WebSocket connections only")
    : new McpxError("not_found");
}

function preflight(found: Found, wanted: string | undefined): HttpResponse {
  return {
    status: 204,
    headers: {
      "access-control-allow-methods": allowed(found),
      "access-control-allow-headers": ["authorization", "content-type", ...mcpHeaders(wanted)].join(", "),
      "access-control-max-age": "600",
    },
  };
}

/** MCP's own headers among those a page asks for: some are named by tools, so there is no list of them. */
function mcpHeaders(wanted = ""): string[] {
  const names = wanted.split(",").map((name) => name.trim().toLowerCase());
  return names.filter((name) => name === "last-event-id" || /^mcp-[a-z0-9-]{1,100}$/.test(name));
}

function allowed({ methods }: Found): string {
  return methods.join(", ");
}

/** Only for configured origins: for all others there is nothing to allow. */
function withCors(response: HttpResponse, origin: string | undefined): HttpResponse {
  if (origin === undefined) return response;
  const { vary } = response.headers ?? {};
  const headers = {
    ...response.headers,
    "access-control-allow-origin": origin,
    "access-control-expose-headers": "www-authenticate, retry-after, mcp-session-id",
    vary: vary === undefined ? "origin" : `${vary}, origin`,
  };
  return { ...response, headers };
}

/** A body nobody read and nobody wants to wait for: the connection cannot be used again. */
function hasLongBody(raw: IncomingMessage): boolean {
  if (raw.complete) return false;
  const { headers } = raw;
  return (
    headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > unreadBytesMax
  );
}

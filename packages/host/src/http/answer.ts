// One request to one answer: look at the stranger, find the route, ask its handler, render what it says.
import {
  type IncomingMessage,
  type ServerResponse,
  validateHeaderName,
  validateHeaderValue,
} from "node:http";
import { errorTable, isMcpxError, McpxError } from "@mcpx/protocol";
import type { Logger } from "../log.ts";
import type { Metrics } from "../metrics.ts";
import { createRequest, type HttpRequest } from "./request.ts";
import { errorResponse, type HttpResponse, type Rendered, render } from "./response.ts";
import { createRouter, type Found, type Route } from "./routes.ts";
import { checkStranger, type StrangerRules } from "./strangers.ts";

export interface AnswerOptions {
  rules: StrangerRules;
  routes: readonly Route[];
  limits: { bodyBytesMax: number };
  log: Logger;
  metrics: Metrics | undefined;
  isUpgradePath(path: string): boolean;
  isClosing(): boolean;
}

export function createAnswer(
  options: AnswerOptions,
): (raw: IncomingMessage, response: ServerResponse) => Promise<void> {
  const { rules, limits, log } = options;
  const route = createRouter(options.routes);
  const duration = options.metrics?.histogram(
    "http_request_seconds",
    "Time to answer an HTTP request",
    [0.001, 0.01, 0.1, 1, 10],
    ["route", "method", "status"],
  );

  return async (raw, response) => {
    const stop = duration?.startTimer();
    let found: Found | undefined;
    let origin: string | undefined;
    let rendered: Rendered;
    try {
      origin = checkStranger(raw, rules);
      const request = createRequest(raw, limits);
      found = route(request.method, request.path);
      if (found === undefined) throw unknownAddress(options.isUpgradePath(request.path));
      const answer =
        raw.method === "OPTIONS" && origin !== undefined
          ? preflight(found)
          : await handle(found, { ...request, params: found.params });
      rendered = render(withHeaders(answer, corsHeaders(origin)));
      // Here, so that headers Node refuses are a fault of the handler like any other.
      checkHeaders(rendered.headers);
    } catch (error) {
      logRefusal(log, error, found?.path);
      const allow = isMethodFault(error) && found !== undefined ? { allow: allowed(found) } : {};
      rendered = render(withHeaders(errorResponse(error), { ...allow, ...corsHeaders(origin) }));
    }
    const { status, headers, content } = rendered;
    if (options.isClosing() || hasLongBody(raw, limits.bodyBytesMax)) headers.connection = "close";
    response.writeHead(status, headers).end(content);
    stop?.({ route: found?.path ?? "none", method: raw.method ?? "", status });
  };
}

/** Callers' faults are ordinary; ours are logged with their cause, anything unforeseen with its stack. */
export function logRefusal(log: Logger, error: unknown, route: string | undefined): void {
  if (!isMcpxError(error)) log.error({ err: error, route }, "a request failed unexpectedly");
  else if (errorTable[error.code].fault === "gateway") log.warn({ err: error, route }, "a request failed");
  else log.debug({ reason: error.code, route }, "a request was refused");
}

function handle(found: Found, request: HttpRequest): Promise<HttpResponse> | HttpResponse {
  if (found.handle === undefined) throw new McpxError("method_not_allowed");
  return found.handle(request);
}

function isMethodFault(error: unknown): boolean {
  return isMcpxError(error) && error.code === "method_not_allowed";
}

function checkHeaders(headers: Record<string, string>): void {
  for (const [name, value] of Object.entries(headers)) {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  }
}

function unknownAddress(isUpgradePath: boolean): McpxError {
  return isUpgradePath
    ? new McpxError("bad_request", "this address takes WebSocket connections only")
    : new McpxError("not_found");
}

function preflight(found: Found): HttpResponse {
  return {
    status: 204,
    headers: {
      "access-control-allow-methods": allowed(found),
      "access-control-allow-headers": "authorization, content-type",
      "access-control-max-age": "600",
    },
  };
}

function allowed({ methods }: Found): string {
  return methods.join(", ");
}

/** Only for configured origins: for all others there is nothing to allow. */
function corsHeaders(origin: string | undefined): Record<string, string> {
  if (origin === undefined) return {};
  return {
    "access-control-allow-origin": origin,
    "access-control-expose-headers": "www-authenticate, retry-after",
    vary: "origin",
  };
}

function withHeaders<T extends HttpResponse>(response: T, more: Record<string, string>): T {
  return { ...response, headers: { ...response.headers, ...more } };
}

/** A body nobody read and nobody wants to wait for: the connection cannot be used again. */
function hasLongBody(raw: IncomingMessage, bytesMax: number): boolean {
  if (raw.complete) return false;
  return (
    raw.headers["transfer-encoding"] !== undefined || Number(raw.headers["content-length"] ?? 0) > bytesMax
  );
}

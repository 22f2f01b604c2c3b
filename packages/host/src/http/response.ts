// Answers: what handlers return, and how errors look on the wire.
import { STATUS_CODES } from "node:http";
import { errorTable, isMcpxError, McpxError } from "@mcpx/protocol";
import type { ResponseStream } from "./response-stream.ts";

export interface HttpResponse {
  /** 200 with a body, 204 without, unless given. */
  status?: number;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is, as `text/plain` unless `headers` say otherwise. */
  text?: string;
  /** Sent as they are; `headers` must say what they are. */
  bytes?: Uint8Array;
  /** Sent bit by bit by the callback; `headers` must say what it is. */
  stream?: (out: ResponseStream) => void;
  headers?: Readonly<Record<string, string>>;
  /** Each is a `set-cookie` of its own. */
  cookies?: readonly string[];
}

/** An answer ready for the wire. */
export interface Rendered {
  status: number;
  headers: Record<string, string | string[]>;
  content: string | Uint8Array;
}

const alwaysHeaders = { "cache-control": "no-store", "x-content-type-options": "nosniff" };

export function render({ status, body, text, bytes, stream, headers = {}, cookies }: HttpResponse): Rendered {
  if (stream !== undefined) {
    return { status: status ?? 200, headers: { ...alwaysHeaders, ...headers }, content: "" };
  }
  const content = bytes ?? text ?? (body === undefined ? "" : JSON.stringify(body));
  const type = text === undefined ? "application/json; charset=utf-8" : "text/plain; charset=utf-8";
  const all: Record<string, string | string[]> = { ...alwaysHeaders };
  if (content !== "") all["content-type"] = type;
  for (const name in headers) all[name] = headers[name] as string;
  if (cookies !== undefined) all["set-cookie"] = [...cookies];
  all["content-length"] = String(Buffer.byteLength(content));
  return { status: status ?? (content === "" ? 204 : 200), headers: all, content };
}

/** What a stranger is told: our own errors in full, anything else only as `internal`. */
export function errorResponse(thrown: unknown): HttpResponse & { status: number } {
  const error = isMcpxError(thrown) ? thrown : new McpxError("internal");
  const { http, code } = errorTable[error.code];
  const headers: Record<string, string> = {};
  if (http === 401) headers["www-authenticate"] = "Bearer";
  // RFC 6455 §4.2.2, RFC 9110 §15.5.22.
  if (http === 426) Object.assign(headers, { upgrade: "websocket", "sec-websocket-version": "13" });
  if (http === 429 || http === 503) {
    headers["retry-after"] = String(Math.max(1, Math.ceil((error.retryAfterMs ?? 1_000) / 1_000)));
  }
  return {
    status: http,
    headers,
    body: { error: { code, reason: error.code, message: error.message, suggestion: error.suggestion } },
  };
}

/** An answer for a socket that has no response object: refused upgrades and unreadable requests. */
export function rawAnswer(response: HttpResponse): string {
  const { status, headers, content } = render(response);
  const connection = headers.upgrade === undefined ? "close" : "upgrade, close";
  const lines = Object.entries({ ...headers, connection }).map(([name, value]) => `${name}: ${value}`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines.join("\r\n")}\r\n\r\n${content}`;
}

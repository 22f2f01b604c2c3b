// Which handler a method and path mean. Paths are compared as they came: `%2F` stays inside its part. Pure.
import { McpxError } from "@mcpx/protocol";
import type { HttpRequest } from "./request.ts";
import type { HttpResponse } from "./response.ts";

export type Handler = (request: HttpRequest) => Promise<HttpResponse> | HttpResponse;

export interface Route {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** `/v0/topics/:topic/participants`: a part with a colon is a parameter. */
  path: string;
  handle: Handler;
}

export interface Found {
  /** The route's own spelling, for metrics. */
  path: string;
  params: Record<string, string>;
  methods: readonly string[];
  handle: Handler | undefined;
}

/** Compiles routes; the answer is `undefined` for a path nobody has. */
export function createRouter(routes: readonly Route[]): (method: string, path: string) => Found | undefined {
  const table = routes.map((route) => ({ ...route, parts: route.path.split("/") }));
  return (method, path) => {
    const given = path.split("/");
    const first = table.find(({ parts }) => fits(parts, given));
    if (first === undefined) return undefined;
    // All methods of one address stand under the same spelling.
    const same = table.filter((route) => route.path === first.path);
    const methods = same.flatMap((route) => (route.method === "GET" ? ["GET", "HEAD"] : [route.method]));
    const wanted = method === "HEAD" ? "GET" : method;
    return {
      path: first.path,
      params: readParams(first.parts, given),
      methods,
      handle: same.find((route) => route.method === wanted)?.handle,
    };
  };
}

function fits(parts: readonly string[], given: readonly string[]): boolean {
  return (
    parts.length === given.length &&
    parts.every((part, i) => (part.startsWith(":") ? given[i] !== "" : part === given[i]))
  );
}

function readParams(parts: readonly string[], given: readonly string[]): Record<string, string> {
  const params: Record<string, string> = {};
  for (const [i, part] of parts.entries()) {
    if (part.startsWith(":")) params[part.slice(1)] = decoded(given[i] ?? "");
  }
  return params;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    throw new McpxError("bad_request", "the address has bad percent-encoding");
  }
}

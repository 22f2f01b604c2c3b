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
  /** Instead of `limits.bodyBytesMax`. */
  bodyBytesMax?: number | undefined;
}

export interface Found {
  /** The route's own spelling, for metrics. */
  path: string;
  params: Record<string, string>;
  methods: readonly string[];
  handle: Handler | undefined;
  bodyBytesMax: number | undefined;
}

const noParams = {};

/** Compiles routes; the answer is `undefined` for a path nobody has. */
export function createRouter(routes: readonly Route[]): (method: string, path: string) => Found | undefined {
  const addresses = [...Map.groupBy(routes, ({ path }) => path)].map(([path, same]) => addressOf(path, same));
  const plain = new Map(addresses.filter(({ isPlain }) => isPlain).map((address) => [address.path, address]));
  return (method, path) => {
    const exact = plain.get(path);
    if (exact !== undefined) return found(exact, method, noParams);
    const given = path.split("/");
    const address = addresses.find(({ parts }) => fits(parts, given));
    return address === undefined ? undefined : found(address, method, readParams(address.parts, given));
  };
}

/** All methods of one address. */
interface Address {
  path: string;
  parts: readonly string[];
  isPlain: boolean;
  methods: readonly string[];
  byMethod: ReadonlyMap<string, Route>;
}

function addressOf(path: string, routes: readonly Route[]): Address {
  return {
    path,
    parts: path.split("/"),
    isPlain: !path.includes("/:"),
    methods: routes.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method])),
    byMethod: new Map(routes.map((route) => [route.method, route])),
  };
}

function found({ path, methods, byMethod }: Address, method: string, params: Record<string, string>): Found {
  const route = byMethod.get(method === "HEAD" ? "GET" : method);
  return { path, params, methods, handle: route?.handle, bodyBytesMax: route?.bodyBytesMax };
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

// The way of a call through the tree: all segments, the tool last, and a cursor that each hop moves by one. Pure.
// [AX-7.2-1]
import { isObject, type JsonObject, McpxError } from "@mcpx/protocol";

export interface Route {
  segments: readonly string[];
  cursor: number;
}

const routeKey = "x-mcpax-route";
const cursorKey = "x-mcpax-cursor";

const segmentsMax = 128;

/** A parent's route, checked: it must lead through us to a tool of the name that was called. [AX-7.2-2] */
export function readRoute(meta: unknown): Route | undefined {
  if (!isObject(meta) || (meta[routeKey] === undefined && meta[cursorKey] === undefined)) return undefined;
  const segments = meta[routeKey];
  const cursor = meta[cursorKey];
  const isPath =
    Array.isArray(segments) &&
    segments.length > 0 &&
    segments.length <= segmentsMax &&
    segments.every((segment) => typeof segment === "string");
  if (!isPath) throw new McpxError("bad_route", `${routeKey} is not a list of segments`);
  if (!Number.isInteger(cursor) || (cursor as number) < 0 || (cursor as number) >= segments.length) {
    throw new McpxError("bad_route", `${cursorKey} points outside the route`);
  }
  return { segments, cursor: cursor as number };
}

/** The route as the next hop gets it: this hop has found itself at the cursor. [AX-7.2-2] */
export function stepRoute(route: Route, own: string, name: string): Route {
  const { segments, cursor } = route;
  if (segments[cursor] !== own) {
    throw new McpxError("bad_route", `the route is at ${segments[cursor]}, and this is ${own}`);
  }
  if (segments.slice(cursor + 1).join(".") !== name) {
    throw new McpxError("bad_route", "the rest of the route is not the name that was called");
  }
  return { segments, cursor: cursor + 1 };
}

/** The first hop's: `own` is its segment, which a root may do without. */
export function startRoute(own: string | undefined, name: string): Route {
  const rest = name.split(".");
  return own === undefined ? { segments: rest, cursor: 0 } : { segments: [own, ...rest], cursor: 1 };
}

export function routeMeta({ segments, cursor }: Route): JsonObject {
  return { [routeKey]: segments, [cursorKey]: cursor };
}

/** `_meta` without what belongs to the tree: plain servers never see it. [AX-7.2-5] */
export function withoutTreeMeta(meta: JsonObject): JsonObject {
  const entries = Object.entries(meta).filter(([key]) => !key.toLowerCase().startsWith("x-mcpax-"));
  return Object.fromEntries(entries);
}

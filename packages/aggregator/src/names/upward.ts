// A server's notification as the trees above us and our clients get it: with the way to where it comes from. Pure.
// [AX-12-1]
import { isObject, type JsonObject, treeNotifications } from "@mcpx/protocol";
import { isCanonicalName, isSegment } from "./segment.ts";

export interface Origin {
  /** `undefined` for what is mounted at the root. */
  segment: string | undefined;
  /** Only a tree's own words on what stands below it count. */
  isTree: boolean;
  /** Its log messages name its segment, whatever `logger` it gives. [B-REG-1] */
  isGuest?: boolean;
}

export interface Upward {
  method: string;
  params: JsonObject;
}

const routeKey = "x-mcpax-route";
/** Marks a log message that stands for a notification of another method, which a tree hears itself. */
export const renderedKey = "x-mcpax-rendered";
const routeMax = 128;
/** MCP's own, which keep their names wherever they come from. */
const standard: ReadonlySet<string> = new Set([
  "notifications/message",
  "notifications/resources/updated",
  "notifications/elicitation/complete",
]);
/** They belong to a request or a hop; and what tasks are called is sealed for the caller who began them. */
const notUpward: ReadonlySet<string> = new Set([
  "notifications/cancelled",
  "notifications/initialized",
  "notifications/progress",
  "notifications/roots/list_changed",
  "notifications/subscriptions/acknowledged",
  "notifications/tasks/status",
]);

/** The names that mean something to a client or a hop; nothing else may look like one of them. */
const taken: ReadonlySet<string> = new Set([
  ...standard,
  ...notUpward,
  ...Object.values(treeNotifications),
  "notifications/prompts/list_changed",
  "notifications/resources/list_changed",
  "notifications/tools/list_changed",
]);
/** No control characters, no spaces, no letters of other scripts. */
const methodForm = /^[A-Za-z0-9_$][A-Za-z0-9_$./-]{0,511}$/;

export function goesUpward(method: string): boolean {
  return !notUpward.has(method);
}

/** Whether it can be passed on under its name: MCP's own, or one that cannot be taken for one of those. */
export function isPassable(method: string): boolean {
  if (standard.has(method) || notUpward.has(method)) return true;
  return methodForm.test(method) && !taken.has(method.toLowerCase());
}

export function isRendered(method: string, params: JsonObject): boolean {
  return method === "notifications/message" && metaOf(params)[renderedKey] !== undefined;
}

/** Not what answers one caller's elicitation. */
export function isForEverybody(method: string): boolean {
  return method !== "notifications/elicitation/complete";
}

/** Everything else in it, `x-mcpax-event-id` and `x-mcpax-causal-parent` too, stays as it is. [AX-12-3] [AX-12-5] */
export function upward({ segment, isTree, isGuest }: Origin, method: string, params: JsonObject): Upward {
  const { logger } = params;
  const isLog = method === "notifications/message";
  const isNamed = isLog && typeof logger === "string";
  const isNameless = isLog && !isNamed && isGuest === true;
  return {
    method: standard.has(method) ? method : dotted(segment, method),
    params: {
      ...params,
      ...(isNamed && { logger: dotted(segment, logger) }),
      ...(isNameless && { logger: segment }),
      _meta: { ...metaOf(params), ...routeMeta(segment, isTree ? routeIn(params) : []) },
    },
  };
}

/**
 * What a tree below says of one of its servers: the segment it names stands below its own. An empty one is the tree
 * itself. `undefined` where it names none. [AX-12-4]
 */
export function treeWord(segment: string | undefined, params: JsonObject): JsonObject | undefined {
  const below = params.segment;
  if (typeof below !== "string") return undefined;
  const whole = below === "" ? (segment ?? "") : dotted(segment, below);
  return whole === "" || isCanonicalName(whole) ? { ...params, segment: whole } : undefined;
}

/** As the clients of a root see it that has a segment of its own: their names begin with that. [AX-3.1-1] */
export function rooted(root: string | undefined, notice: Upward): Upward {
  const { method, params } = notice;
  if (root === undefined) return notice;
  if (!isTreeWord(method)) return upward({ segment: root, isTree: true }, method, params);
  return { method, params: withOrigin(treeWord(root, params) ?? params) };
}

export function isTreeWord(method: string): boolean {
  return method === treeNotifications.subserverLost || method === treeNotifications.notificationOverflow;
}

/** A tree's word on one of its servers, with the way to that one. */
export function withOrigin(params: JsonObject): JsonObject {
  const { segment } = params;
  const route = typeof segment === "string" && segment !== "" ? segment.split(".") : [];
  return { ...params, _meta: { ...metaOf(params), [routeKey]: route } };
}

function dotted(segment: string | undefined, name: string): string {
  return segment === undefined ? name : `${segment}.${name}`;
}

function routeMeta(segment: string | undefined, below: readonly string[]): JsonObject {
  return { [routeKey]: segment === undefined ? below : [segment, ...below] };
}

/** As the hop below gave it; what is no way is none. */
export function routeIn(params: JsonObject): readonly string[] {
  const route = metaOf(params)[routeKey];
  const isRoute =
    Array.isArray(route) &&
    route.length < routeMax &&
    route.every((part) => typeof part === "string" && isSegment(part));
  return isRoute ? route : [];
}

function metaOf({ _meta }: JsonObject): JsonObject {
  return isObject(_meta) ? _meta : {};
}

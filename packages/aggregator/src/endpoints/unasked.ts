// Notifications for a client that belong to none of its requests: of those that servers send, as many as it has asked for.
// Most clients know only MCP's own methods, so what matters is said to them as a log message, too. Pure. [AX-12-1]
import { isObject, type JsonObject } from "@mcpx/protocol";
import { isLogLevel, type LogLevel } from "../mcp/era.ts";
import { renderedKey } from "../names/upward.ts";
import { isLoudEnough } from "./notify-client.ts";

export interface UnaskedWish {
  /** The quietest log message wanted; none where it is absent. */
  level: LogLevel | undefined;
  /** Methods that are none of MCP's, under their own names. */
  hasForeign: boolean;
  /** Whether notifications of unknown methods are rendered as log messages. */
  isRendered: boolean;
}

type Notice = [method: string, params: JsonObject];

const message = "notifications/message";
/** Of changes, which have wishes of their own. */
const changes = /^notifications\/(?:(?:tools|prompts|resources)\/list_changed|resources\/updated)$/;

/** Small, and merged where there are many: nobody misses them. */
export function isChange(method: string): boolean {
  return changes.test(method);
}

export function unasked(wish: UnaskedWish, method: string, params: JsonObject): Notice[] {
  if (isChange(method)) return [[method, params]];
  if (method === message) return isLoudEnough(params.level, wish.level) ? [[method, params]] : [];
  const own: Notice[] = wish.hasForeign || isStandard(method) ? [[method, params]] : [];
  if (!wish.isRendered || isStandard(method)) return own;
  const rendered = asMessage(method, params);
  return isLoudEnough(rendered.level, wish.level) ? [...own, [message, rendered]] : own;
}

/** Of one caller's own conversations: the client knows what to make of it. */
function isStandard(method: string): boolean {
  return method === "notifications/elicitation/complete" || method === "notifications/tasks/status";
}

function asMessage(method: string, params: JsonObject): JsonObject {
  const { _meta, ...data } = params;
  const meta = isObject(_meta) ? _meta : {};
  const route = meta["x-mcpax-route"];
  const logger = Array.isArray(route) && route.length > 0 ? route.join(".") : "mcpax";
  return {
    level: levelOf(method, data),
    logger,
    data: { method, ...data },
    _meta: { ...meta, [renderedKey]: method },
  };
}

/** As it says itself. Alarms, and what the tree says of its servers, are warnings. */
function levelOf(method: string, { level }: JsonObject): LogLevel {
  if (isLogLevel(level)) return level;
  return /^notifications\/mcpax\/|(?:^|[./_-])(?:alarm|alert)s?$/i.test(method) ? "warning" : "info";
}

// `subscriptions/listen`: a request whose answer comes when listening is over. First it is told what it will hear.
import { heapBytesOf, type JsonObject, McpxError } from "@mcpx/protocol";
import type { Account } from "../mcp/accounts.ts";
import { isLogLevel, metaKeys, unaskedKey } from "../mcp/era.ts";
import type { Caller } from "../mcp/exchange.ts";
import { isPlain, notificationMessage, resultMessage } from "../mcp/message.ts";
import { rpcCodes, rpcError } from "../mcp/rpc-error.ts";
import type { Subscription, Tree, Wishes } from "../mcp/tree.ts";
import type { ModernRequest } from "./modern.ts";
import { metaOf } from "./request-meta.ts";
import { isChange, type UnaskedWish, unasked } from "./unasked.ts";

export interface Listening {
  tree: Pick<Tree, "subscribe">;
  listensMax: number;
  /** The ways to end each listening well. */
  enders: Set<() => void>;
  serverInfo(): JsonObject | undefined;
}

const urisMax = 1_000;
const uriCharsMax = 8_192;
const earlyMax = 1_000;

export async function listen(
  { tree, listensMax, enders, serverInfo }: Listening,
  { message, caller, reply }: ModernRequest,
  account: Account,
): Promise<void> {
  const wishes = readWishes(message.params.notifications);
  const wish = readUnasked(message.params.notifications, caller);
  if (wish !== undefined) wishes.unasked = true;
  if (account.listens >= listensMax) throw new McpxError("rate_limited", "too many subscriptions are open");
  // The request itself, and its URIs at the tree and at the conversations.
  const held = account.hold(2 * heapBytesOf(message.params));
  const { id } = message;
  const mark = { [metaKeys.subscriptionId]: id };
  const say = (method: string, params: JsonObject) =>
    reply.before(notificationMessage(method, { ...params, _meta: { ...metaOf(params), ...mark } }));
  const pass = (method: string, params: JsonObject) => {
    const notices: [string, JsonObject][] =
      caller.isParent === true || wish === undefined ? [[method, params]] : unasked(wish, method, params);
    if (notices.length > 0 && reply.isBehind && !isChange(method)) return false;
    for (const [shown, about] of notices) say(shown, about);
    return true;
  };
  let early: [string, JsonObject][] | undefined = [];
  let subscription: Subscription | undefined;
  let isOver = false;
  account.listens += 1;

  function close(): void {
    if (isOver) return;
    isOver = true;
    account.listens -= 1;
    held.release();
    enders.delete(end);
    subscription?.close();
  }

  function end(): void {
    if (isOver) return;
    close();
    const info = serverInfo();
    const _meta = { ...mark, ...(info !== undefined && { [metaKeys.serverInfo]: info }) };
    reply.answer(resultMessage(id, { resultType: "complete", _meta }));
  }

  reply.onCut(close);
  try {
    subscription = await tree.subscribe(caller, wishes, (method, params) => {
      if (isOver) return true;
      if (early === undefined) return pass(method, params);
      if (early.length >= earlyMax) return false;
      early.push([method, params]);
      return true;
    });
  } catch (error) {
    close();
    throw error;
  }
  if (isOver) {
    subscription.close();
    return;
  }
  const granted = grantedOf(subscription.granted, message.params.notifications);
  say("notifications/subscriptions/acknowledged", { notifications: granted });
  for (const [method, params] of early) pass(method, params);
  early = undefined;
  if (Object.keys(granted).length === 0) end();
  else enders.add(end);
}

function readWishes(given: unknown): Wishes {
  if (!isPlain(given)) throw bad("notifications is required");
  const wishes: Wishes = {};
  for (const name of ["toolsListChanged", "promptsListChanged", "resourcesListChanged"] as const) {
    const value = given[name];
    if (value !== undefined && typeof value !== "boolean") throw bad(`${name} must be true or false`);
    if (value === true) wishes[name] = true;
  }
  const uris = given.resourceSubscriptions;
  if (uris === undefined) return wishes;
  if (!Array.isArray(uris) || uris.length > urisMax || !uris.every(isUri)) {
    throw bad(`resourceSubscriptions must be at most ${urisMax} URIs`);
  }
  return { ...wishes, resourceSubscriptions: uris };
}

function isUri(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= uriCharsMax;
}

/** `undefined` where only changes are wanted. Servers log on this stream where the request itself says how much. */
function readUnasked(given: unknown, { logLevel }: Caller): UnaskedWish | undefined {
  const wanted = isPlain(given) ? given[unaskedKey] : undefined;
  if (wanted === undefined || wanted === false) {
    return logLevel && { level: logLevel, hasForeign: false, isRendered: true };
  }
  const level = isPlain(wanted) ? wanted.logLevel : undefined;
  const isGood = (wanted === true || isPlain(wanted)) && (level === undefined || isLogLevel(level));
  if (!isGood) throw bad(`${unaskedKey} must be true, or an object with a logLevel`);
  return { level: level ?? logLevel, hasForeign: true, isRendered: false };
}

/** Without what was not granted: an acknowledgement names only what will come. */
function grantedOf({ unasked: isUnasked, ...granted }: Wishes, asked: unknown): JsonObject {
  const wish = isUnasked === true && isPlain(asked) ? asked[unaskedKey] : undefined;
  const kept = Object.entries(granted).filter(
    ([, value]) => value === true || (Array.isArray(value) && value.length > 0),
  );
  return { ...Object.fromEntries(kept), ...(wish !== undefined && wish !== false && { [unaskedKey]: wish }) };
}

function bad(detail: string) {
  return rpcError(rpcCodes.invalidParams, `Invalid params: ${detail}`);
}

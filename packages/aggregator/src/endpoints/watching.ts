// What a legacy session is told of: changes of lists, what servers say unasked, and updates of the resources its client
// subscribed to.
import type { Hold, Logger } from "@mcpx/host";
import { type JsonObject, McpxError, stringBytesOf } from "@mcpx/protocol";
import type { Caller } from "../mcp/exchange.ts";
import { rpcCodes, rpcError } from "../mcp/rpc-error.ts";
import type { Deliver, Subscription, Tree } from "../mcp/tree.ts";

export interface Watching {
  /** From now on changes of lists, and what servers say unasked, are told. */
  lists(): void;
  subscribe(params: JsonObject): Promise<JsonObject>;
  unsubscribe(params: JsonObject): JsonObject;
  close(): void;
}

export interface WatchingOptions {
  tree: Pick<Tree, "subscribe">;
  caller: Caller;
  log: Logger;
  deliver: Deliver;
  /** Throws where no more may be kept for its principal. */
  hold(bytes: number): Hold;
}

const resourcesMax = 1_000;
const uriCharsMax = 8_192;
/** What a subscription takes beside its URI, here and at the conversation it is kept open for. */
const watchBytes = 1_024;
const everything = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: true,
  unasked: true,
};

export function createWatching({ tree, caller, log, deliver, hold }: WatchingOptions): Watching {
  const resources = new Map<string, { subscribed: Promise<Subscription>; held: Hold }>();
  let lists: Promise<Subscription> | undefined;

  function drop(uri: string): void {
    const watched = resources.get(uri);
    if (watched === undefined) return;
    resources.delete(uri);
    close(watched.subscribed);
    watched.held.release();
  }

  function watchOf(uri: string): Promise<Subscription> {
    const known = resources.get(uri);
    if (known !== undefined) return known.subscribed;
    // The URI is kept three times: as a key, by the tree, and by the conversation.
    const held = hold(watchBytes + 3 * stringBytesOf(uri));
    const subscribed = tree.subscribe(caller, { resourceSubscriptions: [uri] }, deliver);
    resources.set(uri, { subscribed, held });
    return subscribed;
  }

  return {
    lists() {
      if (lists !== undefined) return;
      lists = tree.subscribe(caller, everything, deliver);
      lists.catch((error) => log.warn({ err: error }, "could not subscribe session to list changes"));
    },
    async subscribe(params) {
      const uri = uriOf(params);
      if (resources.size >= resourcesMax)
        throw new McpxError("rate_limited", "too many resources are watched");
      try {
        const { granted } = await watchOf(uri);
        if (!granted.resourceSubscriptions?.includes(uri)) throw new McpxError("unknown_resource");
        return {};
      } catch (error) {
        drop(uri);
        throw error;
      }
    },
    unsubscribe(params) {
      drop(uriOf(params));
      return {};
    },
    close() {
      close(lists);
      for (const uri of [...resources.keys()]) drop(uri);
    },
  };
}

/** Called for its effect only: whether the request succeeds makes no difference. */
function close(subscribed: Promise<Subscription> | undefined): void {
  subscribed?.then(
    (subscription) => subscription.close(),
    () => {},
  );
}

function uriOf({ uri }: JsonObject): string {
  if (typeof uri === "string" && uri !== "" && uri.length <= uriCharsMax) return uri;
  throw rpcError(rpcCodes.invalidParams, "Invalid params: uri must be a string");
}

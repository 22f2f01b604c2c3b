// What a legacy session hears of: changes of lists, what servers say unasked, and updates of the resources its client
// subscribed to.
import type { Logger } from "@mcpx/host";
import { type JsonObject, McpxError } from "@mcpx/protocol";
import type { Caller } from "../exchange.ts";
import { rpcCodes, rpcError } from "../rpc-error.ts";
import type { Deliver, Subscription, Tree } from "../tree.ts";

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
}

const resourcesMax = 1_000;
const uriCharsMax = 8_192;
const everything = {
  toolsListChanged: true,
  promptsListChanged: true,
  resourcesListChanged: true,
  unasked: true,
};

export function createWatching({ tree, caller, log, deliver }: WatchingOptions): Watching {
  const resources = new Map<string, Promise<Subscription>>();
  let lists: Promise<Subscription> | undefined;

  function drop(uri: string): void {
    close(resources.get(uri));
    resources.delete(uri);
  }

  return {
    lists() {
      if (lists !== undefined) return;
      lists = tree.subscribe(caller, everything, deliver);
      lists.catch((error) => log.warn({ err: error }, "a session hears of no changes"));
    },
    async subscribe(params) {
      const uri = uriOf(params);
      if (resources.size >= resourcesMax)
        throw new McpxError("rate_limited", "too many resources are watched");
      const subscribed =
        resources.get(uri) ?? tree.subscribe(caller, { resourceSubscriptions: [uri] }, deliver);
      resources.set(uri, subscribed);
      try {
        const { granted } = await subscribed;
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
      for (const subscribed of resources.values()) close(subscribed);
      resources.clear();
    },
  };
}

/** Whatever becomes of it. */
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

// What endpoints see of the tree.
import type { JsonObject } from "@mcpx/protocol";
import type { Caller, Exchange } from "./exchange.ts";

/** What a client wants to be told of. URIs as the client writes them. */
export interface Wishes {
  toolsListChanged?: boolean;
  promptsListChanged?: boolean;
  resourcesListChanged?: boolean;
  resourceSubscriptions?: readonly string[];
  /** What servers say unasked, and what the tree says of them. */
  unasked?: boolean;
}

/** False where the client is too slow to be told. */
export type Deliver = (method: string, params: JsonObject) => unknown;

export interface Subscription {
  /** The part of the wishes that can be granted. */
  readonly granted: Wishes;
  close(): void;
}

/** Who the tree is, for `initialize` and `server/discover`. */
export interface TreeFacts {
  info: JsonObject;
  capabilities: JsonObject;
  instructions: string | undefined;
}

export interface Tree {
  describe(caller: Caller): Promise<TreeFacts>;
  /**
   * Every request but those of the hop itself (initialize, discover, ping, setLevel, subscribe, listen). The result is
   * in the modern form: `resultType`, and `ttlMs` and `cacheScope` on lists and reads. `input_required` comes only for
   * modern callers of modern servers.
   */
  handle(exchange: Exchange): Promise<JsonObject>;
  /** `deliver` gets `notifications/…/list_changed`, `notifications/resources/updated` and what is said unasked. */
  subscribe(caller: Caller, wishes: Wishes, deliver: Deliver): Promise<Subscription>;
  /** A session's client says its roots have changed, or what level it wants now. */
  tell(caller: Caller, method: string, params: JsonObject): void;
  /** A session is over: what servers keep for it ends. */
  leave(caller: Caller): void;
}

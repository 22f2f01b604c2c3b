// The requests of a session that have no answer yet, by their ids. Over HTTP two may have the same.
import { type JsonObject, McpxError } from "@mcpx/protocol";
import type { Account } from "./accounts.ts";
import { isId, keyOf, type RequestId } from "./message.ts";
import type { Reply } from "./reply.ts";

export interface OneUnderWay {
  readonly signal: AbortSignal;
  readonly reply: Reply;
  done(): void;
}

export interface UnderWay {
  readonly isEmpty: boolean;
  /** Throws `rate_limited`. */
  begin(id: RequestId, reply: Reply): OneUnderWay;
  /** `notifications/cancelled`: no answer is given. */
  cancel(params: JsonObject): void;
  /** Nobody waits any more. */
  abort(): void;
}

export function createUnderWay(account: Account, requestsMax: number): UnderWay {
  const byId = new Map<string, Set<{ controller: AbortController; reply: Reply }>>();
  return {
    get isEmpty() {
      return byId.size === 0;
    },
    begin(id, reply) {
      if (account.requests >= requestsMax)
        throw new McpxError("rate_limited", "too many requests are under way");
      const key = keyOf(id);
      const controller = new AbortController();
      const one = { controller, reply };
      const same = byId.get(key) ?? new Set();
      byId.set(key, same.add(one));
      account.requests += 1;
      reply.onCut(() => controller.abort());
      return {
        signal: controller.signal,
        reply,
        done() {
          account.requests -= 1;
          same.delete(one);
          if (same.size === 0 && byId.get(key) === same) byId.delete(key);
        },
      };
    },
    cancel({ requestId }) {
      if (!isId(requestId)) return;
      for (const { controller, reply } of byId.get(keyOf(requestId)) ?? []) {
        reply.drop();
        controller.abort();
      }
    },
    abort() {
      for (const same of byId.values()) for (const { controller } of same) controller.abort();
    },
  };
}

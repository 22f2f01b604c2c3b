// The requests of a session that have no answer yet, by their ids. Over HTTP two may have the same.
import { heapBytesOf, type JsonObject, McpxError } from "@mcpx/protocol";
import type { Account } from "../mcp/accounts.ts";
import { CallTable } from "../mcp/call-table.ts";
import { isId, keyOf, type RequestId, type RpcRequest } from "../mcp/message.ts";
import type { Reply } from "./reply.ts";

export interface OneUnderWay {
  readonly signal: AbortSignal;
  readonly reply: Reply;
  done(): void;
}

export interface UnderWay {
  readonly isEmpty: boolean;
  /** Where the first of them is answered. */
  readonly oldest: Reply | undefined;
  /** Throws `rate_limited`. */
  begin(request: Pick<RpcRequest, "id" | "params">, reply: Reply): OneUnderWay;
  /** `notifications/cancelled`: no answer is given. */
  cancel(params: JsonObject): void;
  /** Cancels all requests: their client has left. */
  abort(): void;
}

export function createUnderWay(account: Account, requestsMax: number): UnderWay {
  const all = new CallTable<{ id: RequestId; controller: AbortController; reply: Reply }>();
  return {
    get isEmpty() {
      return all.size === 0;
    },
    get oldest() {
      for (const { reply } of all.values()) return reply;
      return undefined;
    },
    begin({ id, params }, reply) {
      if (account.requests >= requestsMax)
        throw new McpxError("rate_limited", "too many requests are under way");
      const held = account.hold(heapBytesOf(params));
      const controller = new AbortController();
      const place = all.add({ id, controller, reply });
      account.requests += 1;
      reply.onCut(() => controller.abort());
      return {
        signal: controller.signal,
        reply,
        done() {
          account.requests -= 1;
          held.release();
          all.delete(place);
        },
      };
    },
    cancel({ requestId }) {
      if (!isId(requestId)) return;
      const key = keyOf(requestId);
      for (const { id, controller, reply } of all.values()) {
        if (keyOf(id) !== key) continue;
        reply.drop();
        controller.abort();
      }
    },
    abort() {
      for (const { controller } of all.values()) controller.abort();
    },
  };
}

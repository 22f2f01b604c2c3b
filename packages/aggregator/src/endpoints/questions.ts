// Requests to a legacy client: ids of our own, and each answer goes back to the server that asked.
import { type JsonObject, McpxError } from "@mcpx/protocol";
import type { Question } from "../mcp/exchange.ts";
import { notificationMessage, type RpcResponse } from "../mcp/message.ts";
import { RpcError } from "../mcp/rpc-error.ts";

export interface Questions {
  /** Rejects with the client's own error; when `signal` aborts, the client is told and it rejects with the reason. */
  ask(question: Question, send: (message: JsonObject) => void, signal?: AbortSignal): Promise<JsonObject>;
  /** An answer; what answers nothing is ignored. */
  answer(response: RpcResponse): void;
  /** Rejects all open questions: their client has left. */
  close(): void;
}

interface Pending {
  resolve(result: JsonObject): void;
  reject(error: unknown): void;
}

const pendingMax = 1_000;

export function createQuestions(): Questions {
  const pending = new Map<number, Pending>();
  let last = 0;

  return {
    async ask({ method, params }, send, signal) {
      signal?.throwIfAborted();
      if (pending.size >= pendingMax) throw new McpxError("rate_limited", "too many questions are open");
      last += 1;
      const id = last;
      const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
      pending.set(id, { resolve, reject });
      const cancel = () => {
        send(notificationMessage("notifications/cancelled", { requestId: id }));
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", cancel, { once: true });
      send({ jsonrpc: "2.0", id, method, ...(params !== undefined && { params }) });
      try {
        return await promise;
      } finally {
        pending.delete(id);
        signal?.removeEventListener("abort", cancel);
      }
    },
    answer({ id, result, fault }) {
      const asked = typeof id === "number" ? pending.get(id) : undefined;
      if (asked === undefined) return;
      if (result !== undefined) asked.resolve(result);
      else if (fault !== undefined) asked.reject(new RpcError(fault));
    },
    close() {
      for (const { reject } of pending.values())
        reject(new McpxError("session_unknown", "the client has left"));
    },
  };
}

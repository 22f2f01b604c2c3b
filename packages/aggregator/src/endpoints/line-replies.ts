// The answers of a channel all requests share: each waits under its id, and no id twice.
import type { JsonObject } from "@mcpx/protocol";
import { keyOf, type RequestId } from "../mcp/message.ts";
import { rpcCodes, rpcError } from "../mcp/rpc-error.ts";
import type { Reply } from "./reply.ts";

export interface LineReplies {
  /** A reply for one request, or for all of a batch. Throws -32600 where an id is in use. */
  open(ids: readonly RequestId[]): Reply;
  /** The client has taken a request back. */
  cut(id: RequestId): void;
  cutAll(): void;
  readonly isEmpty: boolean;
}

export interface LineRepliesOptions {
  write(message: JsonObject | JsonObject[]): void;
  /** May leave it out where the client does not read. */
  writeAside(message: JsonObject): void;
  isBehind(): boolean;
  onEmpty(): void;
}

export function createLineReplies({ write, writeAside, isBehind, onEmpty }: LineRepliesOptions): LineReplies {
  const cuts = new Map<string, () => void>();

  function open(ids: readonly RequestId[]): Reply {
    const keys = ids.map(keyOf);
    if (new Set(keys).size < keys.length || keys.some((key) => cuts.has(key))) {
      throw rpcError(rpcCodes.invalidRequest, "Invalid Request: this id is in use");
    }
    const callbacks: (() => void)[] = [];
    let isOver = false;
    const finish = () => {
      if (isOver) return false;
      isOver = true;
      for (const key of keys) cuts.delete(key);
      if (cuts.size === 0) onEmpty();
      return true;
    };
    const cut = () => {
      if (finish()) for (const callback of callbacks) callback();
    };
    for (const key of keys) cuts.set(key, cut);
    return {
      get isBehind() {
        return isBehind();
      },
      before(message) {
        if (!isOver) writeAside(message);
      },
      answer(message) {
        if (isOver) return;
        write(message);
        finish();
      },
      drop: finish,
      onCut: (callback) => void callbacks.push(callback),
    };
  }

  return {
    open,
    cut: (id) => cuts.get(keyOf(id))?.(),
    cutAll() {
      for (const cut of cuts.values()) cut();
    },
    get isEmpty() {
      return cuts.size === 0;
    },
  };
}

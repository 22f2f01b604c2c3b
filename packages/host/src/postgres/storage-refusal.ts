// What a caller is told of a store that did not do what it was asked for: nothing about the store itself.
import { isMcpxError, McpxError } from "@mcpx/protocol";
import { PostgresFault } from "./fault.ts";

const retryAfterMs = 1_000;

/** Errors of ours stay as they are. */
export function storageRefusal(error: unknown): McpxError {
  if (isMcpxError(error)) return error;
  const kind = error instanceof PostgresFault ? error.kind : "failed";
  switch (kind) {
    case "full":
      return new McpxError("storage_full", undefined, { cause: error });
    case "unsent":
      return new McpxError("rate_limited", "the store cannot be reached", { retryAfterMs, cause: error });
    case "busy":
    case "conflict":
      return new McpxError("rate_limited", "the store is busy", { retryAfterMs, cause: error });
    case "lost":
    case "doubtful":
      return new McpxError("storage_failed", "it may have been stored, or not", { cause: error });
    case "duplicate":
    case "failed":
      return new McpxError("storage_failed", "the store does not answer", { cause: error });
  }
}

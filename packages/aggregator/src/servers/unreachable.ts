// A server that could not be opened: why, and when it may be asked again.
import { backoffMs, isMcpxError, McpxError } from "@mcpx/protocol";
import { RpcError } from "../mcp/rpc-error.ts";
import type { LinkEntry } from "./link-entry.ts";
import type { Server } from "./server.ts";
import { noteRefusal } from "./setbacks.ts";
import { withStderr } from "./stderr-tail.ts";
import type { TreeState } from "./tree-state.ts";

const backoff = { minMs: 1_000, maxMs: 60_000 };

/** Throws `server_unreachable` while it is left alone. */
export function checkFault({ name, fault }: Server, now: number): void {
  if (fault === undefined || now >= fault.retryAt) return;
  const retryAfterMs = Math.ceil(fault.retryAt - now);
  throw new McpxError("server_unreachable", `${name}: ${fault.detail}`, { retryAfterMs });
}

/** Gives what those who wait for the conversation are told. */
export function noteFault(
  state: TreeState,
  server: Server,
  error: unknown,
  { owner, stderrTail }: LinkEntry,
): unknown {
  const now = state.clock.monotonic();
  if (owner !== undefined && isMcpxError(error) && error.cause instanceof RpcError) {
    // It is there and answers: what it refuses is this client, and others may be none the worse.
    noteRefusal(server, owner, error.detail, now);
    return error;
  }
  const failures = (server.fault?.failures ?? 0) + 1;
  const waitMs = backoffMs(failures - 1, backoff);
  const shown = isMcpxError(error) ? error.detail : "it could not be opened";
  const bare = shown.startsWith(`${server.name}: `) ? shown.slice(server.name.length + 2) : shown;
  const detail = withStderr(bare, stderrTail);
  server.fault = { detail, since: server.fault?.since ?? state.clock.now(), retryAt: now + waitMs, failures };
  state.log.warn({ server: server.name, detail, retryInMs: waitMs }, "server unreachable");
  if (!isMcpxError(error) || detail === bare) return error;
  const { code, suggestion, cause } = error;
  return new McpxError(code, `${server.name}: ${detail}`, { suggestion, cause });
}

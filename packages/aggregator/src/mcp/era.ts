// The two eras of MCP and their words. Legacy: initialize, sessions, requests in both directions. Modern: stateless,
// every request carries who asks and what it can, and questions come back as results.

export type Era = "legacy" | "modern";

export const modernRevision = "2026-07-28";

/** Newest first. */
export const legacyRevisions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"] as const;

/** Keys of `_meta` that belong to one hop: each endpoint reads them, each link writes its own. */
export const metaKeys = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  logLevel: "io.modelcontextprotocol/logLevel",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
  relatedTask: "io.modelcontextprotocol/related-task",
} as const;

/** In `capabilities.extensions`: the server is a tree itself. */
export const treeExtension = "org.mcpax/aggregator";
/** In the filter of `subscriptions/listen`: `true` or `{logLevel}`, to be told what servers say unasked. [AX-12-1] */
export const unaskedKey = "org.mcpax/notifications";

/** From quiet to loud is from the end. */
export const logLevels = [
  "debug",
  "info",
  "notice",
  "warning",
  "error",
  "critical",
  "alert",
  "emergency",
] as const;

export type LogLevel = (typeof logLevels)[number];

export function isLogLevel(value: unknown): value is LogLevel {
  return logLevels.includes(value as LogLevel);
}

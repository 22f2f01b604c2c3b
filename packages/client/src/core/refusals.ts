// The JSON-RPC errors with which a participant answers requests that its MCP server never sees. docs/ERRORS.md shows
// this table; a test keeps them equal.

export const refusals = {
  /** The participant was never introduced to the one that asks, or has started anew since. */
  not_initialized: 42801,
  not_served: -32601,
  rate_limited: 42901,
  internal: -32603,
} as const;

export type Refusal = keyof typeof refusals;

/** Whether a `data.reason` asks for `initialize`. */
export function isNotInitialized(reason: unknown): boolean {
  return reason === ("not_initialized" satisfies Refusal);
}

// How long a tool that waits for a person holds its answer: every answer that says "not yet" costs an agent a turn, and
// every client gives up some time. Pure.
import { McpxError, numberOf } from "@mcpx/protocol";

/** The clients we know wait a minute for a call at least, but for one with 5 s, which asks for less by `timeout_ms`. */
const waitMsDefault = 30_000;
/** Some end a call after a minute although they hear that it goes on. */
const waitWithProgressMsDefault = 50_000;
const waitMsMax = 100_000;

export const waitSchema = {
  type: "integer",
  minimum: 0,
  maximum: waitMsMax,
  description: `How long to wait; ${waitMsDefault} unless given, ${waitWithProgressMsDefault} with progress`,
};

/** `given`: what the caller asked for, if anything. */
export function waitMsOf(given: unknown, wantsProgress: boolean): number {
  if (given === undefined) return wantsProgress ? waitWithProgressMsDefault : waitMsDefault;
  const ms = numberOf(given) ?? -1;
  if (!Number.isInteger(ms) || ms < 0) throw new McpxError("bad_params", "timeout_ms must be a whole number");
  return Math.min(ms, waitMsMax);
}

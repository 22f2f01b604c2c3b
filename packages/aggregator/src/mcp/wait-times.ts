// How long a tool that waits for a person holds its answer: every answer that says "not yet" costs an agent a turn, and
// every client gives up some time. Pure.
import { type JsonObject, McpxError, numberOf } from "@mcpx/protocol";
import { knownClient } from "./known-clients.ts";

/** Clients nobody knows: the official SDKs end a call after a minute, unless told otherwise. */
const waitMsDefault = 30_000;
/** Some clients end a call after a minute although they get progress. */
const waitWithProgressMsDefault = 50_000;
/** As long as a gate waits for its decision, unless set. */
const waitMsMax = 300_000;
/** The answer must have arrived before its client gives up. */
const marginMs = 10_000;

export const waitSchema = {
  type: "integer",
  minimum: 0,
  maximum: waitMsMax,
  description: "How long to wait, in milliseconds; by default as long as your client waits",
};

export interface Waiting {
  /** `timeout_ms`, if the caller gave any. */
  given: unknown;
  wantsProgress: boolean;
  /** What the client says it is. */
  info: JsonObject | undefined;
}

export function waitMsOf({ given, wantsProgress, info }: Waiting): number {
  if (given === undefined) return Math.min(defaultWaitMs(wantsProgress, info), waitMsMax);
  const ms = numberOf(given) ?? -1;
  if (!Number.isInteger(ms) || ms < 0) throw new McpxError("bad_params", "timeout_ms must be a whole number");
  return Math.min(ms, waitMsMax);
}

function defaultWaitMs(wantsProgress: boolean, info: JsonObject | undefined): number {
  const known = knownClient(info);
  if (known === undefined) return wantsProgress ? waitWithProgressMsDefault : waitMsDefault;
  return wantsProgress && known.isKeptByProgress ? waitMsMax : known.waitsMs - marginMs;
}

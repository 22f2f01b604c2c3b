// A framework's own approvals, asked of people at a gate of the tree (`mcpax.ask`). The gate is all the state there is:
// who asks the same again, after whatever restart, joins what waits or hears what was decided meanwhile. An approval is
// heard once, and whatever is not an approval of exactly this call is none. [B-CLIENT-3]
import { confirmationOf, digestOf, isObject, type JsonObject } from "@mcpx/protocol";
import { pause } from "../core/pause.ts";
import type { RoomError } from "../core/room-error.ts";
import { callTree, type ToolCall, type TreeEndpoint, treeAddress } from "./call-tree.ts";

/** A call of the framework's own, as people are shown it. */
export interface AskedCall {
  tool: string;
  arguments: unknown;
  /** Which call it is, the same after a restart: its id in a conversation that is kept, or the conversation's own. */
  call: string;
}

export type Answer =
  | { status: "allowed" }
  | { status: "denied"; reason: string }
  /** Ask again later. `url` is the page where somebody can decide. */
  | { status: "waiting"; reason: string; url?: string };

export interface AskOptions {
  /** How long to wait for a decision, through restarts of the gateway; not at all unless given. */
  waitMs?: number;
  /** How long a gateway is tried that has not answered yet; a minute unless given, and never longer than `waitMs`. */
  reachMs?: number;
  signal?: AbortSignal;
}

export interface Approvals {
  /** Throws a `RoomError` where nobody could be asked: then, too, the call is not allowed. */
  ask(call: AskedCall, options?: AskOptions): Promise<Answer>;
}

/**
 * Where approvals are asked for.
 * @example const approvals = createApprovals({ url: "http://127.0.0.1:6279", token });
 */
export function createApprovals({ url, token }: TreeEndpoint): Approvals {
  const endpoint = { url: treeAddress(url), token };
  return { ask: (call, options = {}) => ask(endpoint, call, options) };
}

const turnMs = 50_000;
const retryMs = 1_000;
const reachMsDefault = 60_000;

async function ask(endpoint: TreeEndpoint, asked: AskedCall, options: AskOptions): Promise<Answer> {
  const { waitMs = 0, reachMs = reachMsDefault, signal = new AbortController().signal } = options;
  const { tool, arguments: given = {}, call } = asked;
  const first: ToolCall = { name: "mcpax.ask", arguments: { tool, arguments: given, call } };
  const until = performance.now() + waitMs;
  let reachedBy = performance.now() + reachMs;
  let next = first;
  for (;;) {
    const leftMs = until - performance.now();
    try {
      const result = await callTree(endpoint, next, signal);
      reachedBy = until;
      const waiting = confirmationOf(result);
      if (waiting === undefined) return await judged(result, first.arguments);
      if (leftMs <= 0) return waitingAnswer(waiting);
      // Asked anew now and then: the gate counts with the token that was shown last.
      next = next === first ? waitCall(waiting, Math.min(leftMs, turnMs)) : first;
    } catch (error) {
      const { reason, message } = error as RoomError;
      if (reason === "gate_denied") return { status: "denied", reason: message };
      signal.throwIfAborted();
      const isLost = performance.now() > reachedBy;
      if (leftMs <= 0 || isLost || !mayHelp.includes(reason)) throw error;
      // Asked anew, it joins what waits; where another has heard the approval, people are asked again.
      next = first;
      await pause(Math.min(retryMs, leftMs), signal);
    }
  }
}

/** Words after which the same call may go on. */
const mayHelp: readonly unknown[] = ["confirmation_unknown", "confirmation_used", "draining", "network"];

function waitCall({ confirmation_id: id }: JsonObject, ms: number): ToolCall {
  return { name: "mcpax.wait", arguments: { confirmation_id: id, timeout_ms: Math.ceil(ms) } };
}

function waitingAnswer({ approve_url: url, message }: JsonObject): Answer {
  const reason = typeof message === "string" ? message : "nobody has decided yet";
  return { status: "waiting", reason, ...(typeof url === "string" && { url }) };
}

/** Only the tree's own word about exactly what was asked allows anything. */
async function judged({ isError, structuredContent }: JsonObject, asked: JsonObject): Promise<Answer> {
  const { status, digest, message } = isObject(structuredContent) ? structuredContent : {};
  if (isError !== true && status === "allowed" && digest === (await digestOf(asked))) {
    return { status: "allowed" };
  }
  const reason = typeof message === "string" ? message : "the gateway's answer does not approve this call";
  return { status: "denied", reason };
}

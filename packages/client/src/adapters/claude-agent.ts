// The Claude Agent SDK's `canUseTool`, and the `PreToolUse` hook of Claude Code: both wait for the decision, as long as
// they are given, and deny whatever was not allowed by then.
import { isObject, type JsonObject } from "@mcpx/protocol";
import { asError } from "../core/room-error.ts";
import type { Answer, Approvals, AskedCall, AskOptions } from "./approvals.ts";

export interface CanUseToolOptions {
  /** Of a session that is kept: a call that is repeated after a restart joins what was asked before it. */
  session?: string;
  /** How long to wait for people; 8 hours unless given. */
  waitMs?: number;
}

type PermissionResult =
  | { behavior: "allow"; updatedInput: Record<string, unknown> }
  | { behavior: "deny"; message: string };

const waitMsDefault = 8 * 3_600_000;

/**
 * To be given to `query` of `@anthropic-ai/claude-agent-sdk`.
 * @example query({ prompt, options: { canUseTool: canUseToolBy(approvals, { session: "nightly" }) } });
 */
export function canUseToolBy(
  approvals: Approvals,
  { session, waitMs = waitMsDefault }: CanUseToolOptions = {},
) {
  return async (
    tool: string,
    input: Record<string, unknown>,
    { signal, toolUseID }: { signal: AbortSignal; toolUseID?: string },
  ): Promise<PermissionResult> => {
    const call = session ?? toolUseID ?? crypto.randomUUID();
    const answer = await askOrDeny(approvals, { tool, arguments: input, call }, { waitMs, signal });
    if (answer.status === "allowed") return { behavior: "allow", updatedInput: input };
    return { behavior: "deny", message: answer.reason };
  };
}

/** What a `PreToolUse` hook writes to its standard output. */
export interface HookAnswer {
  hookSpecificOutput: {
    hookEventName: "PreToolUse";
    permissionDecision: "allow" | "deny";
    permissionDecisionReason: string;
  };
}

/** `input`: what Claude Code has written to the hook's standard input, as it was parsed. */
export async function answerHook(
  approvals: Approvals,
  input: unknown,
  options: AskOptions,
): Promise<HookAnswer> {
  const { hook_event_name: event, tool_name: tool, tool_input: given, session_id: session } = asObject(input);
  if (event !== "PreToolUse" || typeof tool !== "string" || typeof session !== "string") {
    return denied("mcpx hook answers only PreToolUse hooks; this is another hook");
  }
  const answer = await askOrDeny(approvals, { tool, arguments: given, call: session }, options);
  if (answer.status !== "allowed") return denied(answer.reason);
  return hookAnswer("allow", "a human has approved exactly this call at mcpx");
}

export function denied(reason: string): HookAnswer {
  return hookAnswer("deny", reason);
}

function hookAnswer(permissionDecision: "allow" | "deny", permissionDecisionReason: string): HookAnswer {
  return {
    hookSpecificOutput: { hookEventName: "PreToolUse", permissionDecision, permissionDecisionReason },
  };
}

function asObject(input: unknown): JsonObject {
  return isObject(input) ? input : {};
}

/** Where nobody can be asked, nothing is allowed. */
async function askOrDeny(approvals: Approvals, call: AskedCall, options: AskOptions): Promise<Answer> {
  try {
    return await approvals.ask(call, options);
  } catch (error) {
    return { status: "denied", reason: `no approval could be requested: ${asError(error).message}` };
  }
}

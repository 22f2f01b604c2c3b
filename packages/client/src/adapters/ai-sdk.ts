// Vercel's AI SDK: answers the approval requests in a conversation, which is all that has to be kept meanwhile.
import { isObject, type JsonObject } from "@mcpx/protocol";
import type { Approvals, AskOptions } from "./approvals.ts";

interface Message {
  role: string;
  content: unknown;
}

interface ApprovalResponse {
  type: "tool-approval-response";
  approvalId: string;
  approved: boolean;
  reason?: string;
}

/** To be put at the end of the messages. */
export interface ApprovalMessage {
  role: "tool";
  content: ApprovalResponse[];
}

/**
 * Asks about every request in the messages that has no response. Put `messages` at the end of the conversation, and
 * generate again when none waits; until then the same conversation can be asked about again.
 * @example const { messages: decided, waiting } = await answerApprovals(approvals, messages, { waitMs: 60_000 });
 */
export async function answerApprovals(
  approvals: Approvals,
  messages: readonly Message[],
  options: AskOptions = {},
): Promise<{ messages: ApprovalMessage[]; waiting: number }> {
  const content: ApprovalResponse[] = [];
  let waiting = 0;
  for (const { approvalId, toolCall } of openRequests(messages)) {
    const { toolName, input } = toolCall;
    const asked = { tool: String(toolName), arguments: input, call: approvalId };
    const answer = await approvals.ask(asked, options);
    const response = { type: "tool-approval-response", approvalId } as const;
    if (answer.status === "waiting") waiting += 1;
    else if (answer.status === "allowed") content.push({ ...response, approved: true });
    else content.push({ ...response, approved: false, reason: answer.reason });
  }
  return { messages: content.length === 0 ? [] : [{ role: "tool", content }], waiting };
}

interface OpenRequest {
  approvalId: string;
  toolCall: JsonObject;
}

/** With the calls they are about; a request about no call of the conversation is none. */
function openRequests(messages: readonly Message[]): OpenRequest[] {
  const parts = messages
    .flatMap(({ content }) => (Array.isArray(content) ? content : []))
    .filter((part): part is JsonObject => isObject(part));
  const answered = new Set(ofType(parts, "tool-approval-response").map(({ approvalId }) => approvalId));
  const calls = new Map(ofType(parts, "tool-call").map((call) => [call.toolCallId, call]));
  return ofType(parts, "tool-approval-request").flatMap(({ approvalId, toolCallId }) => {
    const toolCall = calls.get(toolCallId);
    if (typeof approvalId !== "string" || answered.has(approvalId) || toolCall === undefined) return [];
    return [{ approvalId, toolCall }];
  });
}

function ofType(parts: readonly JsonObject[], type: string): JsonObject[] {
  return parts.filter((part) => part.type === type);
}

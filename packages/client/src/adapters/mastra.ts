// Mastra: answers runs that are suspended because a tool has `requireApproval`. Mastra's own storage has them after a
// restart: `agent.listSuspendedRuns()`.
import type { Answer, Approvals, AskOptions } from "./approvals.ts";

interface SuspendedCall {
  toolCallId?: string;
  toolName?: string;
  args?: unknown;
  requiresApproval: boolean;
}

interface SuspendedRun {
  runId: string;
  toolCalls: SuspendedCall[];
}

interface Decision {
  runId: string;
  toolCallId: string;
  reason?: string;
}

interface MastraAgent<Output> {
  listSuspendedRuns(filter?: { threadId?: string; resourceId?: string }): Promise<{ runs: SuspendedRun[] }>;
  approveToolCallGenerate(decision: Decision): Promise<Output>;
  declineToolCallGenerate(decision: Decision): Promise<Output>;
}

/**
 * Asks about every suspended call of the agent and resumes those that were decided. Gives back what came of them; calls
 * that still wait stay suspended, and can be asked about again.
 * @example for (const output of await resumeDecided(approvals, agent, { waitMs: 60_000 })) console.log(output.text);
 */
export async function resumeDecided<Output>(
  approvals: Approvals,
  agent: MastraAgent<Output>,
  { threadId, resourceId, ...options }: AskOptions & { threadId?: string; resourceId?: string } = {},
): Promise<Output[]> {
  const filter = {
    ...(threadId !== undefined && { threadId }),
    ...(resourceId !== undefined && { resourceId }),
  };
  const { runs } = await agent.listSuspendedRuns(filter);
  const outputs: Output[] = [];
  for (const { runId, toolCalls } of runs) {
    for (const { toolCallId, toolName, args, requiresApproval } of toolCalls) {
      if (!requiresApproval || toolCallId === undefined || toolName === undefined) continue;
      const asked = { tool: toolName, arguments: args, call: `${runId}/${toolCallId}` };
      const output = await resume(agent, { runId, toolCallId }, await approvals.ask(asked, options));
      if (output !== undefined) outputs.push(output);
    }
  }
  return outputs;
}

async function resume<Output>(
  agent: MastraAgent<Output>,
  call: { runId: string; toolCallId: string },
  answer: Answer,
): Promise<Output | undefined> {
  if (answer.status === "allowed") return agent.approveToolCallGenerate(call);
  if (answer.status === "denied") return agent.declineToolCallGenerate({ ...call, reason: answer.reason });
  return undefined;
}

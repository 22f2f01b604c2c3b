// OpenAI Agents: answers the interruptions of a run whose tools have `needsApproval`. `state.toString()` is all that has
// to be kept meanwhile.
import type { Approvals, AskOptions } from "./approvals.ts";

interface ApprovalItem {
  name?: string | undefined;
  arguments?: string | undefined;
  rawItem: object;
}

interface RunState<Item> {
  getInterruptions(): Item[];
  approve(item: Item): void;
  reject(item: Item, options: { message: string }): void;
}

/**
 * Asks about every interruption and tells the state what was decided. Gives back how many still wait: the run can go on
 * when there are none, and the same state can be asked about again.
 * @example if ((await answerInterruptions(approvals, result.state, { waitMs: 60_000 })) === 0) await run(agent, result.state);
 */
export async function answerInterruptions<Item extends ApprovalItem>(
  approvals: Approvals,
  state: RunState<Item>,
  options: AskOptions = {},
): Promise<number> {
  let waiting = 0;
  for (const item of state.getInterruptions()) {
    const answer = await approvals.ask(askedOf(item), options);
    if (answer.status === "allowed") state.approve(item);
    else if (answer.status === "denied") state.reject(item, { message: answer.reason });
    else waiting += 1;
  }
  return waiting;
}

/** Calls of shells and computers have an action instead of arguments: people see all there is. */
function askedOf({ name, arguments: text, rawItem }: ApprovalItem) {
  const { callId, id } = rawItem as { callId?: unknown; id?: unknown };
  const call = callId ?? id;
  if (typeof call !== "string") throw new Error("an interruption without an id cannot be asked about");
  return { tool: name ?? "unknown", arguments: text === undefined ? rawItem : parsed(text), call };
}

/** What is no JSON is shown as it is. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return { text };
  }
}

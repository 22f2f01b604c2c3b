// LangChain and LangGraph: a middleware that asks before each tool call, and interrupts the graph while nobody has
// decided. What the graph is resumed with is not believed: the call is asked about again.
import type { Approvals } from "./approvals.ts";

interface ToolCallRequest {
  toolCall: { name: string; args: unknown; id?: string | undefined };
  runtime?: { configurable?: { thread_id?: unknown } | undefined };
}

export interface GateToolCallsOptions<Told> {
  /** Of `@langchain/langgraph`. */
  interrupt: (value: unknown) => unknown;
  /** Of `langchain`. */
  ToolMessage: new (fields: {
    content: string;
    tool_call_id: string;
    name: string;
    status: "error";
  }) => Told;
  /** Whether people are asked about a tool; about all unless given. */
  asks?: (tool: string) => boolean;
  /** How long a run waits before it is interrupted; not at all unless given. */
  waitMs?: number;
}

/** What an interrupted run tells in `__interrupt__`. */
export interface ApprovalInterrupt {
  type: "mcpx_approval";
  tool: string;
  arguments: unknown;
  reason: string;
  url?: string;
}

/**
 * The `wrapToolCall` of a middleware. Resume the graph to ask again: `agent.invoke(new Command({ resume: true }), config)`.
 * @example createMiddleware({ name: "mcpx", wrapToolCall: gateToolCalls(approvals, { interrupt, ToolMessage }) });
 */
export function gateToolCalls<Told>(approvals: Approvals, options: GateToolCallsOptions<Told>) {
  const { interrupt, ToolMessage, asks = () => true, waitMs = 0 } = options;
  return async <Request extends ToolCallRequest, Result>(
    request: Request,
    handler: (request: Request) => Result | Promise<Result>,
  ): Promise<Result | Told> => {
    const { name: tool, args, id = "" } = request.toolCall;
    if (!asks(tool)) return handler(request);
    const thread = String(request.runtime?.configurable?.thread_id ?? "");
    const asked = { tool, arguments: args, call: `${thread}/${id}` };
    for (;;) {
      const answer = await approvals.ask(asked, { waitMs });
      if (answer.status === "allowed") return handler(request);
      if (answer.status === "denied") {
        return new ToolMessage({ content: answer.reason, tool_call_id: id, name: tool, status: "error" });
      }
      const { reason, url } = answer;
      const told: ApprovalInterrupt = { type: "mcpx_approval", tool, arguments: args, reason };
      // Throws the first time. Resumed, the node begins anew, and this gives back what it was resumed with.
      interrupt(url === undefined ? told : { ...told, url });
    }
  };
}

// The approvals of agent frameworks, asked of people at a gate of the tree. No framework is imported: each adapter takes
// what its framework's users have, by its form.

export { type ApprovalMessage, answerApprovals } from "./ai-sdk.ts";
export {
  type Answer,
  type Approvals,
  type AskedCall,
  type AskOptions,
  createApprovals,
} from "./approvals.ts";
export type { TreeEndpoint } from "./call-tree.ts";
export {
  answerHook,
  type CanUseToolOptions,
  canUseToolBy,
  denied,
  type HookAnswer,
} from "./claude-agent.ts";
export { type ApprovalInterrupt, type GateToolCallsOptions, gateToolCalls } from "./langchain.ts";
export { resumeDecided } from "./mastra.ts";
export { answerInterruptions } from "./openai-agents.ts";

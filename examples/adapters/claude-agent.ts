// The Claude Agent SDK: its agent waits until people have decided. Started again, with the same session, a call that it
// repeats hears what was decided meanwhile.
import { query } from "@anthropic-ai/claude-agent-sdk";
import { canUseToolBy } from "@mcpx/client/adapters";
import { approvals, prompt } from "./approvals.ts";

const options = { canUseTool: canUseToolBy(approvals, { session: "cleaner" }), settingSources: [] };
for await (const message of query({ prompt, options })) {
  if (message.type === "result")
    console.log(message.subtype === "success" ? message.result : message.subtype);
}

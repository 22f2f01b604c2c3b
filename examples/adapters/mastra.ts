// Mastra: its own storage keeps the suspended run until people have decided.
import { createAnthropic } from "@ai-sdk/anthropic";
import { Agent } from "@mastra/core/agent";
import { Mastra } from "@mastra/core/mastra";
import { createTool } from "@mastra/core/tools";
import { LibSQLStore } from "@mastra/libsql";
import { resumeDecided } from "@mcpx/client/adapters";
import { z } from "zod";
import { approvals, deleteFile, leaveWaiting, modelUrl, prompt } from "./approvals.ts";

const anthropic = createAnthropic({ baseURL: `${modelUrl}/v1` });
const cleaner = new Agent({
  id: "cleaner",
  name: "cleaner",
  instructions: "You delete files.",
  // Its types are of before the provider's.
  model: anthropic("claude-sonnet-4-5") as never,
  tools: {
    delete_file: createTool({
      id: "delete_file",
      description: "Deletes a file",
      inputSchema: z.object({ path: z.string() }),
      requireApproval: true,
      execute: deleteFile,
    }),
  },
});
const storage = new LibSQLStore({ id: "runs", url: "file:mastra.db" });
const agent = new Mastra({ agents: { cleaner }, storage }).getAgent("cleaner");

const { runs } = await agent.listSuspendedRuns();
if (runs.length === 0) {
  const output = await agent.generate(prompt);
  if (output.finishReason !== "suspended") console.log(output.text);
}
for (const output of await resumeDecided(approvals, agent)) console.log(output.text);
if ((await agent.listSuspendedRuns()).runs.length > 0) leaveWaiting();

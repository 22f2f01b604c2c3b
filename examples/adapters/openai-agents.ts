// OpenAI Agents: the state of the run is kept in a file until people have decided.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { answerInterruptions } from "@mcpx/client/adapters";
import { Agent, RunState, run, tool } from "@openai/agents";
import { z } from "zod";
import { approvals, deleteFile, leaveWaiting, prompt } from "./approvals.ts";

const file = "openai-agents.json";
const agent = new Agent({
  name: "cleaner",
  model: "gpt-5",
  tools: [
    tool({
      name: "delete_file",
      description: "Deletes a file",
      parameters: z.object({ path: z.string() }),
      needsApproval: true,
      execute: deleteFile,
    }),
  ],
});

type State = RunState<unknown, typeof agent>;
let state: State = existsSync(file)
  ? await RunState.fromString(agent, readFileSync(file, "utf8"))
  : (await run<typeof agent, unknown>(agent, prompt)).state;
while (state.getInterruptions().length > 0) {
  const waiting = await answerInterruptions(approvals, state);
  writeFileSync(file, state.toString());
  if (waiting > 0) leaveWaiting();
  ({ state } = await run(agent, state));
}
console.log(state._currentStep?.type === "next_step_final_output" ? state._currentStep.output : "no answer");

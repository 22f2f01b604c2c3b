// Vercel's AI SDK: the conversation is kept in a file until people have decided.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { createAnthropic } from "@ai-sdk/anthropic";
import { answerApprovals } from "@mcpx/client/adapters";
import { generateText, type ModelMessage, tool } from "ai";
import { z } from "zod";
import { approvals, deleteFile, leaveWaiting, modelUrl, prompt } from "./approvals.ts";

const file = "ai-sdk.json";
const messages: ModelMessage[] = existsSync(file)
  ? JSON.parse(readFileSync(file, "utf8"))
  : [{ role: "user", content: prompt }];
const keep = (more: readonly ModelMessage[]) => {
  messages.push(...more);
  writeFileSync(file, JSON.stringify(messages));
};

const anthropic = createAnthropic({ baseURL: `${modelUrl}/v1` });
const tools = {
  delete_file: tool({
    description: "Deletes a file",
    inputSchema: z.object({ path: z.string() }),
    execute: deleteFile,
  }),
};

for (;;) {
  const { messages: decided, waiting } = await answerApprovals(approvals, messages);
  keep(decided);
  if (waiting > 0) leaveWaiting();
  const toolApproval = { delete_file: "user-approval" } as const;
  const result = await generateText({ model: anthropic("claude-sonnet-4-5"), tools, toolApproval, messages });
  keep(result.responseMessages);
  if (result.finishReason === "stop") {
    console.log(result.text);
    break;
  }
}

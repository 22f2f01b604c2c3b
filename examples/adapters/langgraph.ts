// LangChain on LangGraph: the graph is interrupted until people have decided. Its checkpoints are in a file here; use a
// checkpointer of LangGraph's for more than one thread.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { deserialize, serialize } from "node:v8";
import { ChatAnthropic } from "@langchain/anthropic";
import { Command, interrupt, MemorySaver } from "@langchain/langgraph";
import { gateToolCalls } from "@mcpx/client/adapters";
import { createAgent, createMiddleware, ToolMessage, tool } from "langchain";
import { z } from "zod";
import { approvals, deleteFile, leaveWaiting, modelUrl, prompt } from "./approvals.ts";

const file = "langgraph.state";
const checkpointer = new MemorySaver();
const isResumed = existsSync(file);
if (isResumed) Object.assign(checkpointer, deserialize(readFileSync(file)));

const agent = createAgent({
  model: new ChatAnthropic({ model: "claude-sonnet-4-5", anthropicApiUrl: modelUrl }),
  tools: [
    tool(deleteFile, {
      name: "delete_file",
      description: "Deletes a file",
      schema: z.object({ path: z.string() }),
    }),
  ],
  middleware: [
    createMiddleware({ name: "mcpx", wrapToolCall: gateToolCalls(approvals, { interrupt, ToolMessage }) }),
  ],
  checkpointer,
});

const config = { configurable: { thread_id: "cleaning" } };
const input = isResumed ? new Command({ resume: true }) : { messages: [{ role: "user", content: prompt }] };
const result = await agent.invoke(input, config);
writeFileSync(file, serialize({ storage: checkpointer.storage, writes: checkpointer.writes }));
if ("__interrupt__" in result) leaveWaiting();
console.log(result.messages.at(-1)?.text);

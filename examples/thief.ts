// A thief sees everything that is said in the room, sends all of it again, and gets nothing: what opens a tool is bound
// to its holder's key, and every use is signed for one call.
import assert from "node:assert/strict";
import { type JoinOptions, joinRoom, type RoomEnvelope } from "@mcpx/client";
import { createGuard, createKey } from "@mcpx/client/guard";
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

const url = process.env.MCPX_URL ?? "http://127.0.0.1:6279";
const join = async (name: string, options: Partial<JoinOptions> = {}) =>
  joinRoom({ url, topic: "kitchen", token: process.env[`MCPX_TOKEN_${name}`] ?? "", ...options });
const key = await createKey();
await using oven = await join("OVEN", { key });
await using thief = await join("THIEF");
await using chef = await join("CHEF", { key: await createKey() });

const heated: number[] = [];
const server = new McpServer({ name: "oven", version: "1.0.0" });
server.registerTool("heat", { inputSchema: z.object({ degrees: z.number() }) }, ({ degrees }) => {
  heated.push(degrees);
  return { content: [{ type: "text", text: `The oven has ${degrees} degrees` }] };
});
const policy = { mode: "allowlist", rules: [{ agent: "chef", tools: ["heat"] }] } as const;
await oven.serve(server, { guard: createGuard({ key, policy }) });

const seen: RoomEnvelope[] = [];
thief.addEventListener("envelope", ({ detail }) => void seen.push(detail));
for (const degrees of [100, 200]) await chef.peer("oven").callTool("heat", { degrees });
const stolen = seen.filter(({ payload }) => payload.method === "tools/call");
assert.ok(
  JSON.stringify(stolen.at(-1)?.payload.params).includes('"proof"'),
  "it has capabilities and proofs",
);
for (const { payload } of stolen) {
  const again = thief.peer("oven").request("tools/call", payload.params as Record<string, unknown>);
  await assert.rejects(again, ({ code, reason }) => code === -32003 && /missing|wrong_holder/.test(reason));
}
assert.deepEqual(heated, [100, 200], "nothing but what the chef did");
console.log("done");

// One question to everybody, all answers together: a thermometer in each corner, one of them broken.
import assert from "node:assert/strict";
import { joinRoom } from "@mcpx/client";
import { McpServer } from "@modelcontextprotocol/server";

const { MCPX_URL: url = "http://127.0.0.1:6279", MCPX_TOKEN_CHEF = "" } = process.env;
const corners = { NORTH: 18, SOUTH: 22, EAST: 20, WEST: undefined };

await using everybody = new AsyncDisposableStack();
for (const [corner, degrees] of Object.entries(corners)) {
  const token = process.env[`MCPX_TOKEN_${corner}`] ?? "";
  const room = everybody.use(await joinRoom({ url, topic: "kitchen", token }));
  const server = new McpServer({ name: corner, version: "1.0.0" });
  server.registerTool("temperature", {}, async () => {
    if (degrees === undefined) throw new Error("broken");
    return { content: [{ type: "text", text: String(degrees) }] };
  });
  await room.serve(server);
}

const chef = everybody.use(await joinRoom({ url, topic: "kitchen", token: MCPX_TOKEN_CHEF }));
await chef.say("How warm is it?");
const answers = await Promise.all(
  chef.peers.map(async ({ id }) => ({
    id,
    ...(await chef.peer(id).callTool("temperature", {}, { timeoutMs: 5_000 })),
  })),
);
const readings = answers.filter(({ isError }) => !isError).map(({ content }) => Number(content[0]?.text));
const mean = readings.reduce((sum, reading) => sum + reading, 0) / readings.length;
assert.equal(answers.length, 4);
assert.equal(mean, 20);
await chef.say(`${readings.length} of ${answers.length} say ${mean} degrees on average`);
console.log("done");

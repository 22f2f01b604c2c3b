// A coordinator that finds whoever can heat, and has it done. Start robot.ts first.
import assert from "node:assert/strict";
import { joinRoom } from "@mcpx/client";

const { MCPX_URL: url = "http://127.0.0.1:6279", MCPX_TOKEN_CHEF: token = "" } = process.env;
await using room = await joinRoom({ url, topic: "kitchen", token });

for (const { id } of room.peers) {
  const tools = await room.peer(id).listTools();
  console.log(`${id} can ${tools.map(({ name }) => name).join(", ")}`);
  if (!tools.some(({ name }) => name === "heat")) continue;

  const steps: number[] = [];
  const onProgress = ({ progress }: { progress: number }) => steps.push(progress);
  const { content } = await room.peer(id).callTool("heat", { degrees: 180 }, { onProgress });
  assert.deepEqual(content, [{ type: "text", text: "The oven has 180 degrees" }]);
  assert.ok(steps.length > 0, "it told how far it was");

  const tooHot = await room.peer(id).callTool("heat", { degrees: 900 });
  assert.equal(tooHot.isError, true, "the robot knows its limits");
  await room.say(`${id} is warm`);
}
console.log("done");

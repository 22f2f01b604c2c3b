// An agent that may not act by itself. It calls as if it could; people decide. Start robot.ts and human.ts first.
import assert from "node:assert/strict";
import { joinRoom } from "@mcpx/client";

const { MCPX_URL: url = "http://127.0.0.1:6279", MCPX_TOKEN_ROOKIE: token = "" } = process.env;
await using room = await joinRoom({ url, topic: "kitchen", token });
assert.equal(room.level, "restricted");
const oven = room.peer("oven");

const asked = await oven.callTool("heat", { degrees: 100 }, { reason: "warming plates" });
assert.deepEqual(asked.content, [{ type: "text", text: "The oven has 100 degrees" }]);

const edited = await oven.callTool("heat", { degrees: 250 }, { reason: "pizza" });
assert.deepEqual(edited.content, [{ type: "text", text: "The oven has 200 degrees" }], "a human knew better");

const handle = room.propose({
  to: "oven",
  method: "tools/call",
  params: { name: "heat" },
  reason: "boredom",
});
for await (const { type, proposal } of room.events("proposal")) {
  if (proposal.id !== handle.id || type !== "advice") continue;
  console.log("advised against:", proposal.rejections[0]?.reason);
  await handle.withdraw();
  break;
}
await assert.rejects(handle.result, { reason: "proposal_withdrawn" });
await assert.rejects(oven.callTool("heat", { degrees: 1 }, { propose: "never" }), { code: -32001 });
console.log("done");

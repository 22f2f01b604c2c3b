// A human's script that decides on proposals: fulfils the first, corrects the second, advises against the third.
import assert from "node:assert/strict";
import { joinRoom } from "@mcpx/client";

const { MCPX_URL: url = "http://127.0.0.1:6279", MCPX_TOKEN_HUMAN: token = "" } = process.env;
await using room = await joinRoom({ url, topic: "kitchen", token });
console.log(`${room.id} watches ${room.topic}`);

for await (const { type, proposal } of room.events("proposal")) {
  if (type === "withdrawn") break;
  if (type !== "proposed") continue;
  console.log(`${proposal.proposer} proposes ${proposal.method}: ${proposal.reason}`);
  await room.proposals.status(proposal, "considering");
  if (proposal.reason === "warming plates") await room.proposals.fulfil(proposal);
  else if (proposal.reason === "pizza") {
    await room.proposals.fulfil(proposal, { params: { name: "heat", arguments: { degrees: 200 } } });
  } else await room.proposals.reject(proposal, { reason: "policy" });
}

const outcomes = room.proposals.all().map(({ status, fulfilment }) => [status, fulfilment?.isChanged]);
assert.deepEqual(outcomes, [
  ["fulfilled", false],
  ["fulfilled", true],
  ["withdrawn", undefined],
]);
assert.equal(room.proposals.countsByReason().get("policy"), 1);
console.log("done");

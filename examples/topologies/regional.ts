// Regional: regions register with one global root, which has a segment of its own. Names say where something is, from
// the root's segment on: `global.us.east.*`. [AX-C-3] [AX-3.1-1]
//
//               model
//                 │
//         global aggregator
//         ┌───────┴───────┐
//         us              eu
//      ┌──┴───┐        ┌──┴───┐
//     east   west     west   east      (and a desk beside them)
import assert from "node:assert/strict";
import { connectModel, hopsOf } from "./support/model-client.ts";
import { type ExampleServer, registerServer } from "./support/register-server.ts";
import { startBelow, startTree } from "./support/start-tree.ts";

await using root = await startTree({ segment: "global" });
await using us = await startBelow(root, "us");
await using eu = await startBelow(root, "eu");

const place: ExampleServer = {
  isTree: true,
  tools: [{ name: "where", description: "Says how a call came here", answer: (route) => route }],
};
await using _usEast = await registerServer(us, "east", place);
await using _usWest = await registerServer(us, "west", place);
await using _euWest = await registerServer(eu, "west", place);
await using _euEast = await registerServer(eu, "east", place);
// Beside the regions, of all of them.
await using _desk = await registerServer(root, "desk", place);

await using model = await connectModel(root);
const regional = [
  "global.eu.east.where",
  "global.eu.west.where",
  "global.us.east.where",
  "global.us.west.where",
];
const tools = await model.expectTools(["global.desk.where", ...regional]);
for (const name of regional) {
  assert.equal(hopsOf(tools.get(name)), 2);
  // The same names in both regions, and each call finds its own.
  assert.equal(await model.call(name), name);
}
assert.equal(hopsOf(tools.get("global.desk.where")), 1);
// Without the root's segment the name is understood too.
assert.equal(await model.call("desk.where"), "global.desk.where");
console.log(await root.picture());
console.log("done");

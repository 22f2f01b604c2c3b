// Industrial: an edge aggregator registers with one in the cloud, which has the gate; a PLC on Modbus TCP and an actuator on
// a UART stand behind the edge; the source's Bluetooth sensor is not part of it yet. A model asks to move the actuator, a human signs in the cloud, and it moves once. [AX-C-2]
//
//              model
//                │
//        cloud aggregator   ← the gate, and the human who signs
//                │
//        edge aggregator
//           ┌────┴─────┐
//          plc      actuator
//       (Modbus)  (UART/CBOR)
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { registerWith } from "@mcpx/client/subserver";
import { openDevice } from "@mcpx/devices";
import { actuatorConfig, lineOf, startActuator } from "./industrial/actuator.ts";
import { connectPlc, startPlc } from "./industrial/plc.ts";
import { capabilityOf, connectModel, hopsOf } from "./support/model-client.ts";
import { startBelow, startTree } from "./support/start-tree.ts";

const move = "edge.actuator.move";
await using cloud = await startTree({
  gates: {
    hold: 60_000,
    rules: [
      { tools: move, action: "always_ask" },
      { tools: "**", action: "allow" },
    ],
  },
});
await using edge = await startBelow(cloud, "edge");

await using plc = await startPlc([1_013]);
using plcServer = await connectPlc(plc.port);
await using _plc = registerWith(edge.url, {
  segment: "plc",
  server: plcServer.server,
  token: await edge.token({ sub: "plc", segment: "plc", scope: "write" }),
  subserverId: randomUUID(),
});
await using board = await startActuator();
await using _actuator = openDevice({
  config: actuatorConfig,
  openLine: lineOf(board),
  url: edge.url,
  registration: {
    token: await edge.token({ sub: "actuator", segment: "actuator", scope: "write" }),
    subserverId: randomUUID(),
  },
});

await using model = await connectModel(cloud);
const tools = await model.expectTools([
  move,
  "edge.actuator.state",
  "edge.actuator.warn",
  "edge.plc.read_pressure",
]);
for (const tool of tools.values()) assert.equal(hopsOf(tool), 2);
assert.equal(capabilityOf(tools.get(move)).transport, "uart_cbor");
assert.equal(tools.get(move)?._meta?.["x-mcpax-safety"], "irreversible_mutable");
console.log(await cloud.picture());

const moves = async () => JSON.parse(await model.call("edge.actuator.state")).moves;
console.log(`the PLC says ${await model.call("edge.plc.read_pressure")}, over Modbus`);
assert.equal(plc.requests(), 1);
assert.equal(await moves(), 0);
await model.call("edge.actuator.warn", { light: 1 });
console.log("the warning light is on; the valve has moved 0 times");

await cloud.run("key", "new");
await cloud.run("key", "enroll", "alice");
const moved = model.call(move, { ms: 500 });
console.log(`the model asks for ${move} {"ms":500}; the cloud asks a human`);
let [gate] = JSON.parse(await cloud.run("pending", "--json", "--url", cloud.url));
while (gate === undefined) {
  await wait(100);
  [gate] = JSON.parse(await cloud.run("pending", "--json", "--url", cloud.url));
}
assert.equal(await moves(), 0);
console.log("it has not moved: still 0 times");
await cloud.run("approve", gate.id, "--yes", "--url", cloud.url);
assert.deepEqual(JSON.parse(await moved), { moves: 1 });
assert.equal(await moves(), 1);
console.log("alice has signed; the valve has moved once, as its own counter says");
console.log("done");

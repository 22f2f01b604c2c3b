// Industrial: an edge aggregator behind NAT registers with one in the cloud; field devices register with the edge, each
// over its own bus. [AX-C-2]
//
//              model
//                │
//        cloud aggregator
//                │
//        edge aggregator
//        ┌───────┼─────────┐
//       plc   sensors   actuator
//    (Modbus)  (BLE)   (UART/CBOR)
import assert from "node:assert/strict";
import { capabilityOf, connectModel, hopsOf } from "./support/model-client.ts";
import { registerServer } from "./support/register-server.ts";
import { startBelow, startTree } from "./support/start-tree.ts";

await using cloud = await startTree();
await using edge = await startBelow(cloud, "edge");

await using _plc = await registerServer(edge, "plc", {
  tools: [{ name: "read_register", description: "Reads a Modbus register", answer: () => "40001 = 17" }],
});
await using _sensors = await registerServer(edge, "sensors", {
  transportClass: "ble_cbor",
  tools: [
    {
      name: "temperature",
      description: "Degrees in the furnace",
      capability: { transport: "ble_cbor", latency_class: "standard", consistency: "eventual" },
      answer: () => "1180",
    },
  ],
});
await using _actuator = await registerServer(edge, "actuator", {
  transportClass: "uart_cbor",
  tools: [
    {
      name: "vent",
      description: "Lets the gas out; it does not come back",
      capability: {
        transport: "uart_cbor",
        latency_class: "realtime",
        mutable: true,
        reversible: false,
        idempotent: false,
        auth_scope: "write",
      },
      answer: () => assert.fail("nobody has asked for this"),
    },
  ],
});

await using model = await connectModel(cloud);
const tools = await model.expectTools([
  "edge.actuator.vent",
  "edge.plc.read_register",
  "edge.sensors.temperature",
]);
for (const tool of tools.values()) assert.equal(hopsOf(tool), 2);

// How each is reached is seen in the cloud as its server has said it.
assert.equal(capabilityOf(tools.get("edge.plc.read_register")).transport, "native");
assert.equal(capabilityOf(tools.get("edge.sensors.temperature")).transport, "ble_cbor");
assert.equal(capabilityOf(tools.get("edge.actuator.vent")).transport, "uart_cbor");

// What cannot be undone is marked in the cloud, which is where a gate can ask people first. This example looks at the
// mark only, and does not call what has it.
const marked = [...tools.values()].filter(
  ({ _meta }) => _meta?.["x-mcpax-safety"] === "irreversible_mutable",
);
assert.deepEqual(
  marked.map(({ name }) => name),
  ["edge.actuator.vent"],
);
assert.equal(await model.call("edge.plc.read_register"), "40001 = 17");
assert.equal(await model.call("edge.sensors.temperature"), "1180");
console.log(await cloud.picture());
console.log("done");

// Industrial: an edge aggregator registers with one in the cloud, which has the gate; a PLC on Modbus TCP, sensors with
// Bluetooth and an actuator on a UART stand behind the edge. A model asks to move the actuator, a human signs in the
// cloud, and it moves once. [AX-C-2]
//
//              model
//                │
//        cloud aggregator   ← the gate, and the human who signs
//                │
//        edge aggregator
//      ┌─────────┼──────────┐
//     plc     sensors    actuator
//  (Modbus)    (BLE)    (UART/CBOR)
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { setTimeout as wait } from "node:timers/promises";
import { registerWith } from "@mcpx/client/subserver";
import { openDevice } from "@mcpx/devices";
import { actuatorConfig, lineOf, startActuator } from "./industrial/actuator.ts";
import { connectPlc, startPlc } from "./industrial/plc.ts";
import { type Sensors, sensorsConfig, startSensors } from "./industrial/sensors.ts";
import { capabilityOf, connectModel, hopsOf } from "./support/model-client.ts";
import { startBelow, startTree } from "./support/start-tree.ts";

const without = "--without-bluetooth";
const move = "cloud.edge.actuator.move";
const readTemperatures = "cloud.edge.sensors.read_temperatures";

await using sensors = await sensorsUnlessLeftOut();
await using cloud = await startTree({
  segment: "cloud",
  gates: {
    hold: 60_000,
    rules: [
      { tools: move, action: "always_ask" },
      { tools: "**", action: "allow" },
    ],
  },
});
await using edge = await startBelow(cloud, "edge");
const registrationOf = async (segment: string) => ({
  token: await edge.token({ sub: segment, segment, scope: "write" }),
  subserverId: randomUUID(),
});

await using plc = await startPlc([1_013]);
using plcServer = await connectPlc(plc.port);
await using _plc = registerWith(edge.url, {
  segment: "plc",
  server: plcServer.server,
  ...(await registrationOf("plc")),
});
await using _sensors =
  sensors &&
  openDevice({
    config: sensorsConfig,
    openLine: sensors.open,
    url: edge.url,
    registration: await registrationOf("sensors"),
  });
await using board = await startActuator();
await using _actuator = openDevice({
  config: actuatorConfig,
  openLine: lineOf(board),
  url: edge.url,
  registration: await registrationOf("actuator"),
});

await using model = await connectModel(cloud);
const tools = await model.expectTools([
  move,
  "cloud.edge.actuator.state",
  "cloud.edge.actuator.warn",
  "cloud.edge.plc.read_pressure",
  ...(sensors ? [readTemperatures] : []),
]);
for (const tool of tools.values()) assert.equal(hopsOf(tool), 2);
assert.equal(capabilityOf(tools.get(move)).transport, "uart_cbor");
assert.equal(tools.get(move)?._meta?.["x-mcpax-safety"], "irreversible_mutable");
console.log(await cloud.picture());

const moves = async () => JSON.parse(await model.call("cloud.edge.actuator.state")).moves;
console.log(`the PLC says ${await model.call("cloud.edge.plc.read_pressure")}, over Modbus`);
assert.equal(plc.requests(), 1);
if (sensors) await readSensors(sensors);
assert.equal(await moves(), 0);
await model.call("cloud.edge.actuator.warn", { light: 1 });
console.log("the warning light is on; the valve has moved 0 times");

// This script approves by itself, so its key is a plain file, and says so. Yours asks for a passphrase.
await cloud.run("key", "new", "--unsealed");
await cloud.run("key", "enroll", "alice", "--unsealed");
const moved = model.call(move, { ms: 500 });
// Where something else fails first, that is the error to see.
moved.catch(() => {});
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

/** Leaving them out has to be asked for: a machine without Bluetooth is otherwise a failure, not a smaller example. */
async function sensorsUnlessLeftOut(): Promise<Sensors | undefined> {
  if (process.argv.includes(without)) {
    console.log(`the sensors are left out, because of ${without}`);
    return undefined;
  }
  try {
    return await startSensors([215, 198, 407]);
  } catch (error) {
    console.error(
      `Bluetooth cannot be emulated here (${(error as Error).message}); ${without} leaves the sensors out`,
    );
    process.exit(1);
  }
}

async function readSensors({ readings }: Sensors): Promise<void> {
  assert.equal(capabilityOf(tools.get(readTemperatures)).transport, "ble_cbor");
  const { inlet, outlet, motor } = JSON.parse(await model.call(readTemperatures));
  assert.deepEqual([inlet, outlet, motor], [21.5, 19.8, 40.7]);
  assert.equal(readings(), 1);
  console.log(`the sensors say ${inlet} °C, ${outlet} °C and ${motor} °C, over Bluetooth`);
}

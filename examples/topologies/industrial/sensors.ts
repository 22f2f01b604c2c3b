// An array of temperature sensors with Bluetooth Low Energy. Its radio and the edge's are emulated by BlueZ's btvirt; all
// above the radio is real: the peripheral is served by bleno, the edge connects with noble.
import { type DeviceConfig, type OpenLine, readLine } from "@mcpx/devices";
import { answerPackets } from "../../../packages/devices/src/testing/simulated-stub.ts";
import { startControllers } from "../../../scripts/firmware/bluetooth/start-controllers.ts";
import { startPeripheral } from "../../../scripts/firmware/bluetooth/start-peripheral.ts";

const name = "mcpx sensors";
const readTemperatures = 1;

export interface Sensors extends AsyncDisposable {
  readonly open: OpenLine;
  /** How often the temperatures were read over the radio. */
  readonly readings: () => number;
}

/** `tenths` are degrees Celsius times ten, as such sensors have them. Rejects where Bluetooth cannot be emulated. */
export async function startSensors(tenths: readonly number[]): Promise<Sensors> {
  const controllers = await startControllers();
  // Where noble finds the edge's adapter.
  process.env.BLUETOOTH_HCI_SOCKET_UART_PORT = await controllers.add();
  let readings = 0;
  const run = () => {
    readings += 1;
    return tenths;
  };
  const tools = new Map([[readTemperatures, { argumentTypes: [], run }]]);
  const answer = answerPackets({ serial: "sensors", tools });
  const peripheral = await startPeripheral(await controllers.add(), { name, answer });
  return {
    open: line.open(),
    readings: () => readings,
    [Symbol.asyncDispose]: async () => {
      peripheral[Symbol.dispose]();
      await controllers[Symbol.asyncDispose]();
    },
  };
}

const line = readLine(`ble:${name}`);
const celsius = { type: "int", scale: 0.1, description: "°C" } as const;

export const sensorsConfig: DeviceConfig = {
  segment: "sensors",
  profile: "b",
  encoding: line.encoding,
  transport: line.transport,
  tools: [
    {
      id: readTemperatures,
      name: "read_temperatures",
      description: "Reads the temperatures before the valve, behind it, and of its motor",
      result: [
        { name: "inlet", ...celsius },
        { name: "outlet", ...celsius },
        { name: "motor", ...celsius },
      ],
      capability: { mutable: false, reversible: true, idempotent: true, auth_scope: "read" },
    },
  ],
};

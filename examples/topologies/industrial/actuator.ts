// The actuator: real firmware on an emulated micro:bit, on its UART, as the edge's configuration describes it.
import { type DeviceConfig, readLine } from "@mcpx/devices";
import { buildOnce } from "../../../scripts/firmware/build.ts";
import { type Board, startBoard } from "../../../scripts/firmware/start-board.ts";
import { targets } from "../../../scripts/firmware/targets.ts";

export async function startActuator(): Promise<Board> {
  const target = targets.find(({ name }) => name === "microbit-b");
  if (target === undefined) throw new Error("there is no board microbit-b");
  return startBoard(await buildOnce(target), { isLineLeft: true });
}

export const lineOf = ({ socketPath }: Board) => readLine(`unix:${socketPath}`).open();

/** The firmware has numbers; names, and what a call means, are given here. */
export const actuatorConfig: DeviceConfig = {
  segment: "actuator",
  profile: "b",
  tools: [
    {
      id: 1,
      name: "state",
      description: "Whether the warning light is on, and how often the valve has moved",
      result: [
        { name: "sensor", type: "uint" },
        { name: "light", type: "bool" },
        { name: "moves", type: "uint" },
      ],
      capability: { mutable: false, reversible: true, idempotent: true, auth_scope: "read" },
    },
    {
      id: 2,
      name: "warn",
      description: "Switches the warning light, without which the valve does not move",
      arguments: [{ name: "light", type: "uint", maximum: 1 }],
      result: [{ name: "light", type: "bool" }],
      capability: { mutable: true, reversible: true, idempotent: true, auth_scope: "write" },
    },
    {
      id: 3,
      name: "move",
      description: "Opens the valve for so many milliseconds; what leaves does not come back",
      arguments: [{ name: "ms", type: "uint", minimum: 1, maximum: 5_000 }],
      result: [{ name: "moves", type: "uint" }],
      capability: { mutable: true, reversible: false, idempotent: false, auth_scope: "write" },
    },
  ],
};

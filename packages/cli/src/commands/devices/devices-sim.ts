// `mcpx devices sim [BOARD]`: an emulated board with the demonstration's firmware. How is in `devices/run-sim.ts`.
import { type Context, defineCommand, gatewayOptions } from "../../framework/command.ts";

const options = {
  join: { type: "boolean", about: "attach it to the running gateway, until Ctrl-C" },
  segment: { type: "string", value: "NAME", about: "its name there (default: the board's)" },
  ...gatewayOptions,
} as const;

export type SimContext = Context<typeof options>;

export const devicesSim = defineCommand({
  usage: "[BOARD] [--join]",
  words: { min: 0, max: 1 },
  options,
  examples: [
    ["mcpx devices sim", "a micro:bit; prints its line and what to configure"],
    ["mcpx devices sim atmega328p-b --join", "an AVR, at once in the tree of the running gateway"],
    ["mcpx call microbit-b.read_sensor", "what it measures, once it is there"],
  ],
  run: async (context) => (await import("../../devices/run-sim.ts")).runSim(context),
});

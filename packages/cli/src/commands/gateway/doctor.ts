// `mcpx doctor`: its words. What it does is in `doctor/`, loaded only then.

import { worldOf } from "../../client-configs/world-of.ts";
import { type Context, defineCommand, gatewayOptions } from "../../framework/command.ts";

const options = {
  ...gatewayOptions,
  config: {
    type: "string",
    values: "file",
    value: "FILE",
    about: "configuration (default: ./mcpx.json once accepted, else in the data directory)",
  },
} as const;

export type DoctorCommandContext = Context<typeof options>;

export const doctor = defineCommand({
  usage: "[options]",
  words: { min: 0, max: 0 },
  options,
  examples: [
    ["mcpx doctor", "everything here: files, keys, the gateway, every server, the clients"],
    ["mcpx doctor --json", "for programs; exits with 1 where there is a fault"],
  ],
  async run(context) {
    const { runDoctor } = await import("../../doctor/run-doctor.ts");
    return runDoctor(context, worldOf(context));
  },
});

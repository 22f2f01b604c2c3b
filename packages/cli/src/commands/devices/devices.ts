// `mcpx devices`: the configured devices, how they are, on which line, with which tools.

import { deviceLines } from "../../devices/device-lines.ts";
import { type Context, defineCommand, gatewayOptions } from "../../framework/command.ts";
import { adminCall, objects } from "../../gates/gate-access.ts";

export const devices = defineCommand({
  usage: "",
  words: { min: 0, max: 0 },
  options: gatewayOptions,
  examples: [
    ["mcpx devices", "state, line and tools of each"],
    ["mcpx devices probe serial:/dev/ttyUSB0", "asks what is there, and shows what to configure"],
    ["mcpx devices sim --join", "an emulated board, for those who have none"],
  ],
  run,
});

async function run(context: Context<typeof gatewayOptions>): Promise<number> {
  const { options, output, program } = context;
  const answer = await adminCall(context)("GET", "/devices");
  if (options.json) {
    output.json(answer);
    return 0;
  }
  const found = objects(answer.devices);
  if (found.length === 0) {
    output.note(
      `no devices are configured; ${program} devices probe LINE asks what is on one, ${program} devices sim has one to try`,
    );
  }
  for (const line of deviceLines(found, output)) output.line(line);
  return 0;
}

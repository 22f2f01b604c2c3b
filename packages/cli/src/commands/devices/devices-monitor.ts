// `mcpx devices monitor LINE`: what goes over a line, frame by frame. How is in `devices/monitor-line.ts`.

import { lineOptions } from "../../devices/line-options.ts";
import { type Context, defineCommand } from "../../framework/command.ts";

const options = {
  profile: { type: "string", values: ["a", "b"], value: "a|b", about: "profile of the line (default: b)" },
  crc: {
    type: "string",
    values: ["8", "16"],
    value: "8|16",
    about: "of profile A: the width of its CRC (default: 16)",
  },
  between: {
    type: "string",
    value: "PATH",
    about: "stand between: make this Unix socket for the gateway, and show both directions",
  },
  ...lineOptions,
} as const;

export type MonitorContext = Context<typeof options>;

export const devicesMonitor = defineCommand({
  usage: "LINE [--between PATH]",
  words: { min: 1, max: 1 },
  options,
  examples: [
    ["mcpx devices monitor serial:/dev/ttyUSB0", "frames that the device sends"],
    [
      "mcpx devices monitor serial:/dev/ttyUSB0 --between /tmp/lamp",
      "both ways; the gateway's is unix:/tmp/lamp",
    ],
    ["mcpx devices monitor tcp://192.0.2.7:4000 --profile a --json", "for programs"],
  ],
  run: async (context) => (await import("../../devices/monitor-line.ts")).monitorLine(context),
});

// `mcpx devices probe LINE`: asks what is there, and shows what to configure. Calls nothing.
import { type FoundDevice, probeLine } from "@mcpx/devices";
import { entryFor } from "../../devices/entry-for.ts";
import { lineOptions, readGivenLine } from "../../devices/line-options.ts";
import { type Context, defineCommand } from "../../framework/command.ts";

export const devicesProbe = defineCommand({
  usage: "LINE",
  words: { min: 1, max: 1 },
  options: lineOptions,
  examples: [
    ["mcpx devices probe serial:/dev/ttyUSB0?baud=115200", "a serial port of this machine"],
    ["mcpx devices probe tcp://192.0.2.7:4000", "a serial server"],
    ["mcpx devices probe mqtt://broker.example.com/lamp", "a device behind a broker"],
  ],
  run,
});

async function run(context: Context<typeof lineOptions>): Promise<number> {
  const { options, output, words } = context;
  const [line = ""] = words;
  const found = await probeLine(readGivenLine(line, context));
  if (options.json) output.json({ line, found: found ?? null });
  else if (found === undefined) output.note(`nobody answers on ${line}, in either profile`);
  else {
    for (const text of describe(found)) output.line(text);
    output.line();
    output.line("For mcpx.json, with names of your own:");
    output.line(JSON.stringify({ devices: { device: entryFor(line, found) } }, null, 2));
  }
  return found === undefined ? 1 : 0;
}

function describe(found: FoundDevice): string[] {
  if (found.profile === "a")
    return [`profile A, CRC of ${found.crc} bits; it does not say which tools it has`];
  const { serial, packetMax, callsMax, tools, framedCrc } = found;
  const framing = framedCrc === undefined ? "" : ` in frames with a CRC of ${framedCrc} bits`;
  const calls = callsMax === 1 ? "one call at a time" : `${callsMax} calls at once`;
  return [
    `profile B${framing}, serial number ${serial || "unknown"}, packets of up to ${packetMax} bytes, ${calls}`,
    ...tools.map(({ id, arguments: types }) => `  tool ${id}(${types.join(", ")})`),
  ];
}

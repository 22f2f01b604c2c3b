// `mcpx config check [FILE]`: every fault of a configuration, without starting anything.

import { isObject } from "@mcpx/protocol";
import { parse } from "jsonc-parser";
import { configOptions, readConfigFile } from "../../config/read-config-file.ts";
import { commandsIn } from "../../files/secret-commands.ts";
import { type Context, defineCommand } from "../../framework/command.ts";
import { visible } from "../../framework/visible.ts";

export const configCheck = defineCommand({
  usage: "[FILE]",
  words: { min: 0, max: 1, values: [["file"]] },
  options: configOptions,
  examples: [
    ["mcpx config check", "the configuration that mcpx up would use here"],
    ["mcpx config check deploy/mcpx.json", "that file; exits with 1 where it has a fault"],
  ],
  run,
});

async function run(context: Context<typeof configOptions>): Promise<number> {
  const { options, output, words, program } = context;
  const found = readConfigFile(context, words[0]);
  if (found === undefined) {
    if (options.json) output.json({ path: null, ok: true });
    else
      output.line(
        `there is no configuration file: all defaults apply; ${program} config print --resolved shows them`,
      );
    return 0;
  }
  const { path, text } = found;
  const value: unknown = parse(text);
  const { mcpServers, topics, store } = isObject(value) ? value : {};
  // References are filled in where the gateway runs: what they stand for is not known here.
  if (typeof store === "string" && !store.includes("${")) {
    const { readStoreAddress } = await import("../../files/open-store.ts");
    await readStoreAddress(context, { address: store, dir: context.cwd });
  }
  const counts = { servers: sizeOf(mcpServers), rooms: sizeOf(topics) };
  const commands = commandsIn(value);
  if (options.json) output.json({ path, ok: true, ...counts, ...(commands.length > 0 && { commands }) });
  else {
    const sizes = `${counted(counts.servers, "server")}, settings of ${counted(counts.rooms, "room")}`;
    output.line(`${path} is valid: ${sizes}`);
    for (const command of commands)
      output.line(`the gateway would run, for the secret it prints: ${visible(command)}`);
  }
  return 0;
}

function sizeOf(value: unknown): number {
  return isObject(value) ? Object.keys(value).length : 0;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

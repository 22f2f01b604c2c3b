// `mcpx trust [FILE]`: what a configuration of another directory would do, and somebody's yes to it.
import { type Context, dataOption, defineCommand } from "../../framework/command.ts";

const options = {
  yes: { type: "boolean", about: "accept without asking" },
  list: { type: "boolean", about: "show what was accepted" },
  remove: { type: "boolean", about: "withdraw the acceptance: the file is no longer used" },
  ...dataOption,
} as const;

export type TrustContext = Context<typeof options>;

export const trust = defineCommand({
  usage: "[FILE] [--yes | --remove | --list]",
  words: { min: 0, max: 1, values: [["file"]] },
  options,
  examples: [
    ["mcpx trust", "what ./mcpx.json would start, reach and weaken; then it asks"],
    ["mcpx trust work/mcpx.json --yes", "accepts it as it is now"],
    ["mcpx trust --list", "what was accepted, and what has changed since"],
    ["mcpx trust work/mcpx.json --remove", "the file is no longer accepted"],
  ],
  async run(context) {
    const { runTrust } = await import("../../trust/run-trust.ts");
    return runTrust(context);
  },
});

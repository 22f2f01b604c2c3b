// `mcpx connect CLIENT`: this gateway into a client's configuration, with a look at it first and a way back.
import { clientIds } from "../../client-configs/client.ts";
import { worldOf } from "../../client-configs/world-of.ts";
import { type Context, configOption, dataOption, defineCommand } from "../../framework/command.ts";

const options = {
  yes: { type: "boolean", about: "write without asking" },
  move: {
    type: "boolean",
    about: "move the servers it has of its own here, so that it reaches them through the gates only",
  },
  keep: { type: "boolean", about: "leave it the servers it has of its own, past the gates" },
  undo: { type: "boolean", about: "make the client's file what it was, and revoke the token" },
  print: { type: "boolean", about: "only print what would be put there, with a token, to paste it" },
  profile: {
    type: "string",
    values: "profile",
    value: "NAME",
    about: "a profile of the configuration instead of all tools",
  },
  tools: {
    type: "string",
    values: "tool",
    multiple: true,
    value: "GLOB",
    about: "tools it may see and call (default: **)",
  },
  ttl: { type: "string", value: "TIME", about: "how long its token is valid (default: 30d)" },
  ...configOption,
  ...dataOption,
} as const;

export type ConnectContext = Context<typeof options>;

export const connect = defineCommand({
  usage: "CLIENT [--move | --keep] [--profile NAME] [--undo | --print]",
  words: { min: 1, max: 1, values: [[clientIds]] },
  options,
  examples: [
    ["mcpx connect cursor", "shows what would change and asks"],
    ["mcpx connect cursor --move", "takes the servers it has of its own with it; --undo brings them back"],
    ["mcpx connect claude-code --yes", "also claude-desktop, vscode, codex, gemini, opencode"],
    ["mcpx connect codex --profile reading --ttl 7d", "only the tools of a profile, for a week"],
    ["mcpx connect cursor --undo", "the client's file is as before"],
  ],
  async run(context) {
    const { runConnect } = await import("../../client-configs/run-connect.ts");
    return runConnect(context, worldOf(context));
  },
});

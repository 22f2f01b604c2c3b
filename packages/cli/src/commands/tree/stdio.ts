// `mcpx stdio`: the tree for clients that can only start a command.
import { type Context, defineCommand, gatewayOptions } from "../../framework/command.ts";

const options = {
  ...gatewayOptions,
  config: { type: "string", values: "file", value: "FILE", about: "configuration, where no gateway runs" },
  trusted: {
    type: "string",
    values: "file",
    value: "FILE",
    about: "the same, only as mcpx trust has accepted it",
  },
  profile: { type: "string", values: "profile", value: "NAME", about: "show only this profile of the tree" },
  names: {
    type: "string",
    values: ["canonical", "safe", "strict"],
    value: "HOW",
    about: "canonical, safe or strict (default: as the client needs)",
  },
} as const;

export type StdioContext = Context<typeof options>;

export const stdio = defineCommand({
  usage: "[options]",
  words: { min: 0, max: 0 },
  options,
  examples: [
    ["mcpx stdio", "the running gateway's tree; without one, the configuration's servers"],
    ["mcpx stdio --profile read --names safe", "one profile of it, with names every client takes"],
  ],
  async run(context: StdioContext) {
    // Only here: other commands start without the tree.
    const { runStdio } = await import("../../server/run-stdio.ts");
    return runStdio(context);
  },
});

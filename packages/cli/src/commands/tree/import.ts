// `mcpx import [CLIENT…]`: servers that other programs know, into the tree. It shows what it would do; writing needs
// --yes or a choice.
import { clientIds } from "../../client-configs/client.ts";
import { worldOf } from "../../client-configs/world-of.ts";
import { type Context, configOption, dataOption, defineCommand } from "../../framework/command.ts";
import { unannotatedOption } from "./add.ts";

const options = {
  yes: { type: "boolean", about: "write all of them without asking; not those of the working directory" },
  project: { type: "boolean", about: "with --yes, those of files in the working directory too" },
  ...unannotatedOption,
  ...configOption,
  ...dataOption,
} as const;

export type ImportContext = Context<typeof options>;

export const importServers = defineCommand({
  usage: "[CLIENT…] [--yes [--project]]",
  words: { min: 0, max: 6, values: [[clientIds]] },
  options,
  examples: [
    ["mcpx import", "what Claude, Cursor, VS Code, Codex, Gemini and opencode have"],
    ["mcpx import cursor vscode", "only theirs (also claude-desktop claude-code codex gemini opencode)"],
    ["mcpx import --yes", "write without asking"],
    ["mcpx import --yes --project", "also what .mcp.json, .vscode/mcp.json and the like here have"],
  ],
  async run(context) {
    const { runImport } = await import("../../client-configs/run-import.ts");
    return runImport(context, worldOf(context), context.options.unannotated);
  },
});

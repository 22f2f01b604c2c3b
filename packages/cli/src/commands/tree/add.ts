// `mcpx add NAME -- CMD…` and `mcpx add NAME URL`: a server into the tree's configuration. What edits the file is
// loaded only then, with the schema it checks against.
import { dirname } from "node:path";
import { checkServerName, readEntry } from "../../config-edit/server-entry.ts";
import { undoHint } from "../../config-edit/undo-hint.ts";
import { type Context, configOption, dataOption, defineCommand } from "../../framework/command.ts";
import { shortPath, showDiff } from "../../framework/show-change.ts";

export const unannotatedOption = {
  unannotated: {
    type: "string",
    values: ["ask", "allow"],
    value: "HOW",
    about: "tools that do not say how dangerous they are: ask or allow",
  },
} as const;

const options = {
  env: { type: "string", multiple: true, value: "K=V", about: "variable of its environment" },
  header: { type: "string", multiple: true, value: "'K: V'", about: "header for every request to it" },
  segment: { type: "string", value: "NAME", about: "what its tools' names begin with (default: from NAME)" },
  root: { type: "boolean", about: "no segment: its tools keep their names; for one server only" },
  trusted: { type: "boolean", about: "believe what it says about the danger of its tools" },
  ...unannotatedOption,
  era: {
    type: "string",
    values: ["auto", "legacy", "modern"],
    value: "ERA",
    about: "speak only legacy (to 2025-11-25) or modern (2026-07-28) MCP to it (default: auto)",
  },
  force: { type: "boolean", about: "add it even if its command is not found here" },
  replace: { type: "boolean", about: "take the place of the server of that name" },
  ...configOption,
  ...dataOption,
} as const;

type AddContext = Context<typeof options>;

export const add = defineCommand({
  usage: "NAME URL | NAME -- CMD… [options before --]",
  words: { min: 2, max: 1_000, values: [[], ["command"], ["file"]] },
  options,
  examples: [
    ["mcpx add files -- npx -y @modelcontextprotocol/server-filesystem .", "a command"],
    ["mcpx add notes https://notes.example.com/mcp --header 'Authorization: Bearer …'", "an address"],
    ["mcpx add github --env GITHUB_TOKEN=… -- github-mcp-server stdio", "with a variable"],
  ],
  run,
});

async function run(context: AddContext): Promise<number> {
  const { options, output, words } = context;
  const [name = ""] = words;
  checkServerName(name);
  const { openConfig, saveConfig } = await import("../../config-edit/edit-config.ts");
  const { secretsOfChange, withNewServer } = await import("../../config-edit/plan-servers.ts");
  const file = openConfig(context);
  const wish = { ...options, words: words.slice(1) };
  const read = readEntry(wish, { cwd: context.cwd, configPath: file.path });
  const isDecided = options.trusted || options.unannotated !== undefined || options.json;
  const { askTrust } = await import("../../config-edit/ask-trust.ts");
  const entry = !isDecided && (await askTrust(context, name)) ? { ...read, trusted: true } : read;
  const { text, isThere } = withNewServer(file, name, entry, options);
  if (!options.force) {
    const { checkCommand } = await import("../../config-edit/check-command.ts");
    checkCommand(entry, { dir: dirname(file.path), env: context.env });
  }
  const { backup, isClosed } = saveConfig(file, text, new Date());
  if (options.json) {
    output.json({ name, file: file.path, backup: backup ?? null, replaced: isThere });
    return 0;
  }
  output.line(`${isThere ? "replaced" : "added"} ${name} in ${shortPath(file.path, context)}`);
  showDiff(context, file.before?.text ?? "", text, secretsOfChange(file, text));
  if (isClosed) output.note("mcpx: the file holds secrets, so only you may read it now (mode 0600)");
  output.note(undoHint(context.program, name, file, backup));
  const { demoNotes } = await import("../../config-edit/demo-notes.ts");
  for (const line of demoNotes(file)) output.note(line);
  return 0;
}

// `mcpx add NAME -- CMD…` and `mcpx add NAME URL`: a server into the tree's configuration. What edits the file is
// loaded only then, with the schema it checks against.
import { type Context, dataOption, defineCommand } from "../command.ts";
import type { ServerEntry, Unannotated } from "../edit-config.ts";
import { Failure, misuse } from "../failure.ts";
import { shellWord, shortPath, showDiff } from "../show-change.ts";

export const configOption = {
  config: {
    type: "string",
    value: "FILE",
    about: "configuration to edit (default: ./mcpx.json, else in the data directory)",
  },
} as const;

export const unannotatedOption = {
  unannotated: {
    type: "string",
    value: "HOW",
    about: "tools that do not say how dangerous they are: ask or allow",
  },
} as const;

const options = {
  env: { type: "string", multiple: true, value: "K=V", about: "variable of its environment" },
  header: { type: "string", multiple: true, value: "'K: V'", about: "header for every request to it" },
  segment: { type: "string", value: "NAME", about: "what its tools' names begin with (default: from NAME)" },
  root: { type: "boolean", about: "no segment: its tools keep their names; one server may" },
  trusted: { type: "boolean", about: "believe what it says about the danger of its tools" },
  ...unannotatedOption,
  replace: { type: "boolean", about: "take the place of the server of that name" },
  ...configOption,
  ...dataOption,
} as const;

type AddContext = Context<typeof options>;

export const add = defineCommand({
  name: "add",
  summary: "add a server to the tree",
  usage: "NAME URL | NAME -- CMD… [options before --]",
  words: { min: 2, max: 1_000 },
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
  const { openConfig, saveConfig, segmentsOf, shownSecrets, withServers } = await import("../edit-config.ts");
  const { parseConfig } = await import("../config.ts");
  const file = openConfig(context);
  const isThere = segmentsOf(file.config).has(name);
  if (isThere && !options.replace) {
    const fix = "replace it with --replace, or choose another name";
    throw new Failure(`there is a server ${name} in ${file.path} already`, fix);
  }
  const entry = readEntry(context, file.path);
  const text = withServers(file, new Map([[name, entry]]));
  const { backup, isClosed } = saveConfig(file, text, new Date());
  if (options.json) {
    output.json({ name, file: file.path, backup: backup ?? null, replaced: isThere });
    return 0;
  }
  output.line(`${isThere ? "replaced" : "added"} ${name} in ${shortPath(file.path, context)}`);
  const secrets = [file.config, parseConfig(text, file.path)].flatMap(shownSecrets);
  showDiff(context, file.before?.text ?? "", text, secrets);
  if (isClosed) output.note("mcpx: it holds secrets, so only you may read it now (mode 0600)");
  output.note(undoHint(context.program, name, file.path, backup));
  return 0;
}

export function undoHint(program: string, name: string, path: string, backup: string | undefined): string {
  const undo =
    backup === undefined
      ? `${program} remove ${shellWord(name)}`
      : `mv ${shellWord(backup)} ${shellWord(path)}`;
  return `undo: ${undo}`;
}

function checkServerName(name: string): void {
  if (name !== "__proto__" && name.length <= 128 && /^[\p{L}\p{N}][\p{L}\p{N} ._/@:+-]*$/u.test(name)) return;
  throw misuse(
    `${JSON.stringify(name)} cannot be a server's name`,
    "use letters, digits, - and _, such as my-files",
  );
}

function readEntry({ options, words, cwd }: AddContext, configPath: string): ServerEntry {
  const [, command = "", ...args] = words;
  const { env, header, segment, root, trusted } = options;
  const unannotated = readUnannotated(options.unannotated);
  if (root && segment !== undefined)
    throw misuse("--root and --segment do not go together", "give one of them");
  const isUrl = args.length === 0 && /^https?:\/\//i.test(command);
  if (isUrl && env.length > 0) throw misuse("--env is for commands", "give a header with --header 'K: V'");
  if (!isUrl && header.length > 0)
    throw misuse("--header is for addresses", "give a variable with --env K=V");
  const headers = readPairs(header, /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):(.*)$/s, "--header", "'X-Key: value'");
  const variables = readPairs(env, /^([^=\0]+)=(.*)$/s, "--env", "KEY=value");
  // The file is somewhere else, and a path given here is meant from here.
  const isRelative = [command, ...args].some((word) => /^\.\.?(\/|\\|$)/.test(word));
  const isElsewhere = !configPath.startsWith(`${cwd}/`) || configPath.slice(cwd.length + 1).includes("/");
  return {
    ...(isUrl ? { url: command } : { command }),
    ...(args.length > 0 && { args }),
    ...(env.length > 0 && { env: variables }),
    ...(header.length > 0 && { headers }),
    ...(!isUrl && isRelative && isElsewhere && { cwd }),
    ...(segment !== undefined && { segment }),
    ...(root && { root }),
    ...(trusted && { trusted }),
    ...(unannotated !== undefined && { unannotated }),
  };
}

export function readUnannotated(given: string | undefined): Unannotated | undefined {
  if (given === undefined || given === "ask" || given === "allow") return given;
  throw misuse(`--unannotated ${given} is not one`, "use ask or allow");
}

function readPairs(
  given: readonly string[],
  form: RegExp,
  option: string,
  example: string,
): Record<string, string> {
  const pairs = given.map((text): [string, string] => {
    const [, name, value] = form.exec(text) ?? [];
    // The text may hold a secret: it is not shown.
    if (name === undefined || value === undefined)
      throw misuse(`${option} needs a name and a value`, `write ${option} ${example}`);
    return [name, option === "--header" ? value.trim() : value];
  });
  const [twice] = pairs.map(([name]) => name).filter((name, index, names) => names.indexOf(name) !== index);
  if (twice !== undefined) throw misuse(`${option} ${twice} is given twice`, "give it once");
  return Object.fromEntries(pairs);
}

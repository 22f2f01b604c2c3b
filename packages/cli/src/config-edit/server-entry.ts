// A server as somebody wishes it, read into an entry of the configuration: by `mcpx add` and by the console. Pure.

import { misuse } from "../framework/failure.ts";
import type { ServerEntry, ServerEra, Unannotated } from "./edit-config.ts";

export interface EntryWish {
  /** A command and its arguments, or one address. */
  words: readonly string[];
  /** `KEY=value` */
  env: readonly string[];
  /** `Name: value` */
  header: readonly string[];
  segment: string | undefined;
  root: boolean;
  trusted: boolean;
  unannotated: string | undefined;
  era?: string | undefined;
  /** Everybody signs in to it themselves. */
  perUser?: boolean | undefined;
}

export function checkServerName(name: string): void {
  if (name !== "__proto__" && name.length <= 128 && /^[\p{L}\p{N}][\p{L}\p{N} ._/@:+-]*$/u.test(name)) return;
  throw misuse(
    `${JSON.stringify(name)} cannot be a server's name`,
    "use letters, digits, - and _, such as my-files",
  );
}

/** `cwd`: where paths that are given are meant from. */
export function readEntry(
  wish: EntryWish,
  { cwd, configPath }: { cwd: string; configPath: string },
): ServerEntry {
  const { words, env, header, segment, root, trusted } = wish;
  const [command = "", ...args] = words;
  const unannotated = readUnannotated(wish.unannotated);
  const era = readEra(wish.era);
  if (root && segment !== undefined)
    throw misuse("--root and --segment cannot be combined", "use only one of them");
  const isUrl = args.length === 0 && /^https?:\/\//i.test(command);
  if (isUrl && env.length > 0) throw misuse("--env is for commands", "give a header with --header 'K: V'");
  if (!isUrl && header.length > 0)
    throw misuse("--header is for addresses", "give a variable with --env K=V");
  if (!isUrl && wish.perUser === true)
    throw misuse("users sign in to servers with an address only", "leave that out");
  const headers = readPairs(header, /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):(.*)$/s, "--header", "'X-Key: value'");
  const variables = readPairs(env, /^([^=\0]+)=(.*)$/s, "--env", "KEY=value");
  // The file is somewhere else, and a path given here is meant from here.
  const isRelative = words.some((word) => /^\.\.?(\/|\\|$)/.test(word));
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
    ...(era !== undefined && { era }),
    ...(wish.perUser === true && { oauth: { per: "user" as const } }),
  };
}

export function readUnannotated(given: string | undefined): Unannotated | undefined {
  if (given === undefined || given === "ask" || given === "allow") return given;
  throw misuse(`invalid value ${JSON.stringify(given)} for --unannotated`, "expected ask or allow");
}

function readEra(given: string | undefined): ServerEra | undefined {
  if (given === undefined || given === "auto" || given === "legacy" || given === "modern") return given;
  throw misuse(`invalid value ${JSON.stringify(given)} for --era`, "expected auto, legacy or modern");
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

// From the words of the command line to one command, and from its end to an exit code.
import { asStarted } from "../framework/as-started.ts";
import type { Context, ListedCommand, Surroundings } from "../framework/command.ts";
import { Failure, failureText, misuse } from "../framework/failure.ts";
import { suggestion } from "../framework/nearest.ts";
import { checkWords, parseOptions } from "../framework/parse-options.ts";
import { version } from "../framework/version.ts";
import { commands, sections } from "./commands.ts";
import { findCommand } from "./find-command.ts";
import { commandHelp, groupHelp, overview } from "./help.ts";

/** What the scripts of `mcpx completion` ask; not for people. */
const completionVerb = "__complete";

/** Runs one command line; never rejects. */
export async function runCommandLine(args: readonly string[], surroundings: Surroundings): Promise<number> {
  try {
    return await dispatch(args, surroundings);
  } catch (error) {
    const isDebug = surroundings.env.MCPX_DEBUG === "1";
    surroundings.output.note(hintFor(surroundings)(failureText(error, isDebug).trimEnd()));
    return error instanceof Failure ? error.exitCode : 1;
  }
}

async function dispatch(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const [first = "help"] = args;
  if (first === "--version" || first === "-v") {
    surroundings.output.line(version);
    return 0;
  }
  if (first === "help" || isHelp(first)) return help(args.slice(1), surroundings);
  if (first === completionVerb) {
    const { printCandidates } = await import("../completion/print-candidates.ts");
    return printCandidates(args.slice(1), surroundings);
  }
  if (first.startsWith("-"))
    throw misuse(`${first} comes before the command`, "write mcpx COMMAND [options]");
  const { listed, rest } = findCommand(args);
  if (listed === undefined) {
    const group = groupOf(first);
    if (args.some(isHelp)) return help([first], surroundings);
    const names = group.map(({ name }) => `mcpx ${name}`).join(" or ");
    throw misuse(`${first} needs a subcommand`, `write ${names}`);
  }
  const command = await listed.load();
  const { options, words } = parseOptions(command, rest);
  if (options.help === true) return help(command.name.split(" "), surroundings);
  checkWords(
    command,
    words,
    commands.map(({ name }) => name),
  );
  const hint = hintFor(surroundings);
  return (await command.run({ ...surroundings, hint, options, words } as unknown as Context)) ?? 0;
}

function hintFor({ program }: Surroundings): (text: string) => string {
  return (text) => asStarted(text, program, commands.map(firstWord));
}

async function help(args: readonly string[], { output }: Surroundings): Promise<number> {
  const words = args.filter((word) => !word.startsWith("-"));
  const { listed } = findCommand(words);
  if (words[0] === undefined) {
    output.line(overview(sections, output));
  } else if (listed === undefined) {
    output.line(groupHelp(words[0], groupOf(words[0]), output));
  } else {
    const related = groupOf(words[0]).filter((other) => other !== listed);
    output.line(commandHelp(await listed.load(), related, output));
  }
  return 0;
}

/** All commands that begin with this word; throws where none does. */
function groupOf(word: string): readonly ListedCommand[] {
  const group = commands.filter((command) => firstWord(command) === word);
  if (group.length > 0) return group;
  const names = [...commands.map(firstWord), "help"];
  throw misuse(`unknown command ${JSON.stringify(word)}`, suggestion(word, names) ?? "see mcpx help");
}

function firstWord({ name }: ListedCommand): string {
  return name.split(" ")[0] ?? name;
}

function isHelp(word: string): boolean {
  return word === "--help" || word === "-h";
}

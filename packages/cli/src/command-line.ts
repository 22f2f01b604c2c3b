// From the words of the command line to one command, and from its end to an exit code.
import type { Command, Context, Surroundings } from "./command.ts";
import { commands } from "./commands.ts";
import { Failure, failureText, misuse } from "./failure.ts";
import { commandHelp, groupHelp, overview } from "./help.ts";
import { suggestion } from "./nearest.ts";
import { checkWords, parseOptions } from "./parse-options.ts";
import { version } from "./version.ts";

/** Runs one command line; never rejects. */
export async function runCommandLine(args: readonly string[], surroundings: Surroundings): Promise<number> {
  try {
    return await dispatch(args, surroundings);
  } catch (error) {
    const isDebug = surroundings.env.MCPX_DEBUG === "1";
    surroundings.output.note(failureText(error, isDebug).trimEnd());
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
  if (first.startsWith("-"))
    throw misuse(`${first} comes before the command`, "write mcpx COMMAND [options]");
  const { command, rest } = find(args);
  if (command === undefined) {
    const group = groupOf(first);
    if (args.some(isHelp)) return help([first], surroundings);
    const names = group.map(({ name }) => `mcpx ${name}`).join(" or ");
    throw misuse(`${first} is not a whole command`, `write ${names}`);
  }
  const { options, words } = parseOptions(command, rest);
  if (options.help === true) return help(command.name.split(" "), surroundings);
  checkWords(
    command,
    words,
    commands.map(({ name }) => name),
  );
  return (await command.run({ ...surroundings, options, words } as unknown as Context)) ?? 0;
}

function help(args: readonly string[], { output }: Surroundings): number {
  const words = args.filter((word) => !word.startsWith("-"));
  const { command } = find(words);
  if (words[0] === undefined) {
    output.line(overview(commands, output));
  } else if (command === undefined) {
    output.line(groupHelp(words[0], groupOf(words[0]), output));
  } else {
    const related = groupOf(words[0]).filter((other) => other !== command);
    output.line(commandHelp(command, related, output));
  }
  return 0;
}

/** The command of the longest name that the words begin with. */
function find(args: readonly string[]): { command: Command | undefined; rest: readonly string[] } {
  for (const length of [2, 1]) {
    const name = args.slice(0, length).join(" ");
    const command = commands.find((one) => one.name === name);
    if (command !== undefined) return { command, rest: args.slice(length) };
  }
  return { command: undefined, rest: args };
}

/** All commands that begin with this word; throws where none does. */
function groupOf(word: string): readonly Command[] {
  const group = commands.filter((command) => firstWord(command) === word);
  if (group.length > 0) return group;
  const names = [...commands.map(firstWord), "help"];
  throw misuse(`unknown command ${JSON.stringify(word)}`, suggestion(word, names) ?? "see mcpx help");
}

function firstWord({ name }: Command): string {
  return name.split(" ")[0] ?? name;
}

function isHelp(word: string): boolean {
  return word === "--help" || word === "-h";
}

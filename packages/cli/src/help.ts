// The texts of `mcpx help` and `mcpx COMMAND --help`.
import { type Command, commonOptions, type OptionSpecs } from "./command.ts";
import { columns, type Output } from "./output.ts";

export function overview(commands: readonly Command[], { paint }: Output): string {
  return [
    `${paint("bold", "mcpx")}  rooms where agents, people and robots use each other's tools`,
    "",
    "Usage: mcpx COMMAND [options]",
    "",
    ...summaries(commands),
    "",
    "`mcpx COMMAND --help` shows a command's options and examples.",
  ].join("\n");
}

/** `related`: commands that begin with the same word. */
export function commandHelp(command: Command, related: readonly Command[], { paint }: Output): string {
  const { name, summary, usage, options, examples } = command;
  return [
    `${paint("bold", `mcpx ${name}`)}  ${summary}`,
    "",
    `Usage: mcpx ${name} ${usage}`.trimEnd(),
    "",
    "Options:",
    ...columns(optionRows({ ...options, ...commonOptions })),
    "",
    "Examples:",
    ...columns(examples.map(([line, meaning]) => [`  ${line}`, paint("dim", meaning)])),
    ...(related.length === 0 ? [] : ["", "See also:", ...summaries(related)]),
  ].join("\n");
}

/** The commands that begin with a word that is none by itself. */
export function groupHelp(word: string, group: readonly Command[], { paint }: Output): string {
  const usage = `Usage: mcpx ${word} COMMAND [options]`;
  return [paint("bold", `mcpx ${word}`), "", usage, "", ...summaries(group)].join("\n");
}

function summaries(commands: readonly Command[]): string[] {
  return columns(commands.map(({ name, summary }) => [`  ${name}`, summary]));
}

function optionRows(specs: OptionSpecs): string[][] {
  return Object.entries(specs).map(([name, { value, multiple, about }]) => [
    `  --${name}${value === undefined ? "" : ` ${value}`}`,
    multiple === true ? `${about}; may be repeated` : about,
  ]);
}

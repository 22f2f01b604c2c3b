// The texts of `mcpx help` and `mcpx COMMAND --help`, for terminals of eighty columns.
import { type Command, commonOptions, type ListedCommand, type OptionSpecs } from "../framework/command.ts";
import type { Output } from "../framework/output.ts";
import type { Section } from "./commands.ts";

const charsMax = 80;

export function overview(sections: readonly Section[], { paint }: Output): string {
  const width = widest(sections.flatMap(({ commands }) => commands.map(({ name }) => name)));
  return [
    `${paint("bold", "mcpx")}  rooms where agents, people and robots use each other's tools`,
    "",
    "Usage: mcpx COMMAND [options]",
    ...sections.flatMap(({ title, commands }) => [
      "",
      paint("bold", `${title}:`),
      ...summaries(commands, width),
    ]),
    "",
    "`mcpx COMMAND --help` shows a command's options and examples.",
  ].join("\n");
}

/** `related`: commands that begin with the same word. */
export function commandHelp(command: Command, related: readonly ListedCommand[], { paint }: Output): string {
  const { name, summary, usage, options, examples } = command;
  return [
    `${paint("bold", `mcpx ${name}`)}  ${summary}`,
    "",
    ...usage
      .split("\n")
      .map((one, index) => `${index === 0 ? "Usage:" : "   or:"} mcpx ${name} ${one}`.trimEnd()),
    "",
    "Options:",
    ...twoColumns(optionRows({ ...options, ...commonOptions })),
    "",
    "Examples:",
    ...examples.flatMap(([line, meaning]) => [`  ${line}`, `      ${paint("dim", meaning)}`]),
    ...(related.length === 0 ? [] : ["", "See also:", ...summaries(related)]),
  ].join("\n");
}

/** The commands that begin with a word that is none by itself. */
export function groupHelp(word: string, group: readonly ListedCommand[], { paint }: Output): string {
  const usage = `Usage: mcpx ${word} COMMAND [options]`;
  return [paint("bold", `mcpx ${word}`), "", usage, "", ...summaries(group)].join("\n");
}

function summaries(commands: readonly ListedCommand[], width?: number): string[] {
  return twoColumns(
    commands.map(({ name, summary }) => [name, summary]),
    width,
  );
}

function optionRows(specs: OptionSpecs): [string, string][] {
  return Object.entries(specs).map(([name, { value, multiple, about }]) => [
    `--${name}${value === undefined ? "" : ` ${value}`}`,
    multiple === true ? `${about}; may be repeated` : about,
  ]);
}

/** The second column goes on below itself where it is too long. */
function twoColumns(
  rows: readonly (readonly [string, string])[],
  width = widest(rows.map(([first]) => first)),
): string[] {
  return rows.flatMap(([first, second]) =>
    wrapped(second, charsMax - width - 4).map((line, index) =>
      `  ${(index === 0 ? first : "").padEnd(width)}  ${line}`.trimEnd(),
    ),
  );
}

function widest(texts: readonly string[]): number {
  return Math.max(...texts.map((text) => text.length));
}

/** Broken between words; a word that is longer stays whole. */
function wrapped(text: string, charsPerLine: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const last = lines.at(-1) ?? "";
    if (last === "") lines[lines.length - 1] = word;
    else if (last.length + 1 + word.length <= charsPerLine) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

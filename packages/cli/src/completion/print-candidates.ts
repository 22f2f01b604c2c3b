// `mcpx __complete -- WORDS…`, which the scripts of `mcpx completion` ask: what could complete the last word. The
// first line says whether the shell shall complete `words`, which follow with a tab and what they are, or `files`,
// `directories` or `commands`, which it knows itself.
import { spelledOut } from "@mcpx/protocol";
import { commands } from "../command-line/commands.ts";
import { findCommand } from "../command-line/find-command.ts";
import { dataDirOf } from "../files/data-dir.ts";
import type { ListedCommand, Surroundings } from "../framework/command.ts";
import { askNames } from "./ask-names.ts";
import { type Before, type Candidate, readBefore, type Wish, wishOf } from "./wish.ts";

const shownMax = 500;
const charsMax = 256;

/** Says nothing about what goes wrong: it would stand in the middle of somebody's command line. */
export async function printCandidates(args: readonly string[], surroundings: Surroundings): Promise<number> {
  const { output } = surroundings;
  const before = args.slice(1, -1);
  const current = args.at(-1) ?? "";
  const { candidates, duty } = await candidatesFor(before, current, surroundings).catch(() => nothing);
  output.line(duty ?? "words");
  const fitting = candidates.filter(({ word }) => word.startsWith(current) && isPlain(word));
  for (const { word, about } of fitting.slice(0, shownMax)) output.line(`${word}\t${about}`);
  return 0;
}

type Found = Pick<Wish, "candidates" | "duty">;

const nothing: Found = { candidates: [] };

async function candidatesFor(
  before: readonly string[],
  current: string,
  surroundings: Surroundings,
): Promise<Found> {
  if (before[0] === "help") return { candidates: nextWords(before.slice(1)) };
  const { listed, rest } = findCommand(before);
  if (listed === undefined) return { candidates: [...nextWords(before), ...ownOptions(before, current)] };
  const command = await listed.load();
  const place = readBefore(command, rest);
  const wish = wishOf(command, place, current);
  const below = rest.length === 0 && !current.startsWith("-") ? nextWords(before) : [];
  const names = wish.names.length === 0 ? [] : await liveNames(wish, place, surroundings);
  const candidates = [...below, ...wish.candidates, ...names.map((word) => ({ word, about: "" }))];
  return {
    ...wish,
    candidates: candidates.map(({ word, about }) => ({ word: wish.prefix + word, about })),
  };
}

/** The words that go on from these to the name of a command. */
function nextWords(before: readonly string[]): Candidate[] {
  const below = commands.filter(
    ({ name }) =>
      name.split(" ").length > before.length && before.every((word, at) => word === partOf(name, at)),
  );
  const words = [...new Set(below.map(({ name }) => partOf(name, before.length)))];
  return words.map((word) => ({ word, about: aboutOf([...before, word].join(" "), below) }));
}

function partOf(name: string, at: number): string {
  return name.split(" ")[at] ?? "";
}

/** Of a word that is no whole command, what it begins. */
function aboutOf(name: string, below: readonly ListedCommand[]): string {
  const whole = below.find((one) => one.name === name);
  if (whole !== undefined) return whole.summary;
  const rest = below.filter((one) => one.name.startsWith(`${name} `)).map((one) => partOf(one.name, 1));
  return rest.join(", ");
}

function ownOptions(before: readonly string[], current: string): Candidate[] {
  if (before.length > 0) return [];
  const help = { word: "help", about: "show the commands, or the help of one" };
  if (!current.startsWith("-")) return [help];
  return [
    { word: "--help", about: help.about },
    { word: "--version", about: "print the version" },
  ];
}

async function liveNames(
  { names, prefix }: Wish,
  { words, options }: Before,
  surroundings: Surroundings,
): Promise<string[]> {
  // What is elsewhere is not asked: the address may be half typed, and the key is for nobody else.
  if (options.has("url") || options.has("gateway")) return [];
  const dataDir = dataDirOf(surroundings, { data: options.get("data") });
  const waitMs = readWait(surroundings.env.MCPX_COMPLETION_MS);
  const found = await askNames(dataDir, { kinds: names, room: words[0], waitMs });
  // What begins with a dash would be an option, and with a tilde a home directory.
  return prefix === "" ? found.filter((name) => !/^[-~]/.test(name)) : found;
}

/** A user who waits longer types the word; on a slow machine its owner can raise this. */
const waitMsUsual = 300;
const waitMsMax = 10_000;

function readWait(given: string | undefined): number {
  const ms = Number(given);
  return ms > 0 ? Math.min(ms, waitMsMax) : waitMsUsual;
}

/** Neither steers a terminal nor breaks a line; nobody could type the others either. */
function isPlain(word: string): boolean {
  return word.length <= charsMax && spelledOut(word) === word;
}

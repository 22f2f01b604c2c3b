// What could stand at the end of a command line, by what the commands say of their words and options. Pure.
import {
  type Command,
  commonOptions,
  type NameKind,
  nameKinds,
  type OptionSpecs,
  type Values,
} from "../framework/command.ts";

export interface Candidate {
  word: string;
  about: string;
}

/** What the shell does better itself. */
type Duty = "files" | "directories" | "commands";

export interface Wish {
  candidates: readonly Candidate[];
  /** Kinds of names that the gateway can complete. */
  names: readonly NameKind[];
  duty?: Duty;
  /** What stands before each candidate in the same word: `--level=`. */
  prefix: string;
}

/** What stands before the word in question, behind the command's name. */
export interface Before {
  words: readonly string[];
  options: ReadonlyMap<string, string>;
  /** The option whose value comes next. */
  open: string | undefined;
  /** After `--` there are no options. */
  isOver: boolean;
}

export function readBefore({ options }: Pick<Command, "options">, rest: readonly string[]): Before {
  const specs: OptionSpecs = { ...options, ...commonOptions };
  const words: string[] = [];
  const given = new Map<string, string>();
  let open: string | undefined;
  let isOver = false;
  for (const text of rest) {
    if (open !== undefined) {
      given.set(open, text);
      open = undefined;
    } else if (isOver || !text.startsWith("-") || text === "-") words.push(text);
    else if (text === "--") isOver = true;
    else {
      const { name, value } = splitOption(text);
      given.set(name, value ?? "");
      if (value === undefined && specOf(specs, name)?.type === "string") open = name;
    }
  }
  return { words, options: given, open, isOver };
}

export function wishOf(command: Command, before: Before, current: string): Wish {
  const specs: OptionSpecs = { ...command.options, ...commonOptions };
  if (before.open !== undefined) return valueWish(specs, before.open, "");
  if (before.isOver || !current.startsWith("-")) return wordWish(command, before.words.length);
  const { name, value } = splitOption(current);
  return value === undefined ? optionWish(specs, before) : valueWish(specs, name, `--${name}=`);
}

function wordWish({ words: { max, values = [] } }: Command, index: number): Wish {
  if (index >= max) return nothing;
  return wishFor(values[Math.min(index, values.length - 1)] ?? [], "");
}

function valueWish(specs: OptionSpecs, name: string, prefix: string): Wish {
  const values = specOf(specs, name)?.values;
  return values === undefined ? nothing : wishFor([values], prefix);
}

function optionWish(specs: OptionSpecs, { options }: Before): Wish {
  const left = Object.entries(specs).filter(
    ([name, { multiple }]) => multiple === true || !options.has(name),
  );
  return { ...nothing, candidates: left.map(([name, { about }]) => ({ word: `--${name}`, about })) };
}

const nothing: Wish = { candidates: [], names: [], prefix: "" };
const duties: Readonly<Record<string, Duty>> = {
  file: "files",
  directory: "directories",
  command: "commands",
};

function wishFor(all: readonly Values[], prefix: string): Wish {
  const words = all.filter((one) => typeof one !== "string").flat();
  const kinds = all.filter((one) => typeof one === "string");
  const duty = kinds.map((kind) => duties[kind]).find((one) => one !== undefined);
  return {
    candidates: words.map((word) => ({ word, about: "" })),
    names: nameKinds.filter((kind) => kinds.includes(kind)),
    ...(duty !== undefined && { duty }),
    prefix,
  };
}

function splitOption(text: string): { name: string; value: string | undefined } {
  const at = text.indexOf("=");
  return at === -1
    ? { name: text.slice(2), value: undefined }
    : { name: text.slice(2, at), value: text.slice(at + 1) };
}

function specOf(specs: OptionSpecs, name: string) {
  return Object.hasOwn(specs, name) ? specs[name] : undefined;
}

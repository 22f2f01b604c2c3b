// The options and words behind a command's name, checked against what it takes. Pure.
import { parseArgs } from "node:util";
import { type Command, commonOptions, type OptionSpec, type OptionSpecs } from "./command.ts";
import { misuse } from "./failure.ts";
import { suggestion } from "./nearest.ts";

export interface Parsed {
  options: Record<string, string | boolean | string[] | undefined>;
  words: string[];
}

export function parseOptions(command: Command, args: readonly string[]): Parsed {
  const specs: OptionSpecs = { ...command.options, ...commonOptions };
  // Not strict: the library's own errors are longer than a line and suggest nothing.
  const { tokens } = parseArgs({
    args: [...args],
    options: { ...Object.fromEntries(Object.entries(specs).map(toParseArgs)), help: { ...help } },
    strict: false,
    allowPositionals: true,
    tokens: true,
  });
  const parsed: Parsed = { options: emptyOptions(specs), words: [] };
  for (const token of tokens) {
    if (token.kind === "positional") parsed.words.push(token.value);
    if (token.kind === "option") setOption(parsed, specs, token);
  }
  return parsed;
}

const help = { type: "boolean", short: "h" } as const;

export function checkWords(command: Command, words: readonly string[], names: readonly string[]): void {
  const { min, max } = command.words;
  if (words.length >= min && words.length <= max) return;
  const usage = `usage: mcpx ${command.name} ${command.usage}`;
  if (words.length < min) throw misuse(`missing argument${missingName(command, words.length)}`, usage);
  const surplus = words[max] ?? "";
  const meant = max === 0 ? suggestion(`${command.name} ${surplus}`, names, "mcpx ") : undefined;
  throw misuse(`${command.name} does not take ${JSON.stringify(surplus)}`, meant ?? usage);
}

/** The missing argument's name in the command's usage. */
function missingName({ usage }: Command, given: number): string {
  const [first = ""] = usage.split("\n");
  const named = first.split(" ").filter((word) => /^[A-Z]/.test(word))[given];
  return named === undefined ? "" : `: ${named}`;
}

function toParseArgs([name, { type, multiple }]: [string, OptionSpec]) {
  return [name, { type, multiple: multiple ?? false }] as const;
}

function emptyOptions(specs: OptionSpecs): Parsed["options"] {
  return Object.fromEntries(
    Object.entries(specs).map(([name, { type, multiple }]) => [
      name,
      type === "boolean" ? false : multiple ? [] : undefined,
    ]),
  );
}

interface OptionToken {
  name: string;
  rawName: string;
  value?: string | undefined;
  inlineValue?: boolean | undefined;
}

function setOption({ options }: Parsed, specs: OptionSpecs, token: OptionToken): void {
  const { name, rawName, value, inlineValue } = token;
  const spec = Object.hasOwn(specs, name) ? specs[name] : undefined;
  if (spec === undefined) {
    const known = Object.keys(specs);
    throw misuse(`unknown option ${rawName}`, suggestion(name, known, "--") ?? "see --help");
  }
  if (spec.type === "boolean") {
    if (value !== undefined) throw misuse(`${rawName} takes no value`);
    options[name] = true;
    return;
  }
  const shown = `${rawName} ${spec.value ?? "VALUE"}`;
  if (value === undefined || value === "") throw misuse(`${rawName} needs a value`, `write ${shown}`);
  // A dash by itself is no option: it stands for standard input or output.
  if (value.startsWith("-") && value !== "-" && inlineValue !== true) {
    throw misuse(`${rawName} needs a value and ${value} looks like an option`, `write ${rawName}=${value}`);
  }
  checkValue(rawName, value, spec);
  const before = options[name];
  if (Array.isArray(before)) before.push(value);
  else if (before === undefined) options[name] = value;
  else throw misuse(`${rawName} is given twice`, "give it once");
}

function checkValue(rawName: string, value: string, { values }: OptionSpec): void {
  if (!Array.isArray(values) || values.includes(value)) return;
  const meant = suggestion(value, values, `${rawName} `) ?? `expected ${oneOf(values)}`;
  throw misuse(`invalid value ${JSON.stringify(value)} for ${rawName}`, meant);
}

function oneOf(words: readonly string[]): string {
  return [words.slice(0, -1).join(", "), words.at(-1)].join(" or ");
}

// What a command is: its words and options, and what it gets to run with.
import type { Input } from "./input.ts";
import type { Output } from "./output.ts";

export interface OptionSpec {
  type: "string" | "boolean";
  /** May be given several times. */
  multiple?: true;
  /** What stands for the value in help: `--port N`. */
  value?: string;
  about: string;
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>;

export type OptionValues<Specs extends OptionSpecs> = {
  readonly [Name in keyof Specs]: Specs[Name] extends { type: "boolean" }
    ? boolean
    : Specs[Name] extends { multiple: true }
      ? readonly string[]
      : string | undefined;
};

/** The world as the command line found it; nothing below reads it for itself. */
export interface Surroundings {
  env: Readonly<Record<string, string | undefined>>;
  cwd: string;
  /** How the user starts this program: `mcpx`, or `npx mcpx` in a clone. */
  program: string;
  output: Output;
  /** Where somebody types, or a program does. */
  input(): Input;
  /**
   * Aborted by the first Ctrl-C, SIGTERM or the like; the second ends the process at once. Where `hungUp` is given,
   * SIGHUP means that instead.
   */
  interrupted(hungUp?: () => void): AbortSignal;
}

export interface Context<Specs extends OptionSpecs = OptionSpecs> extends Surroundings {
  options: OptionValues<Specs & typeof commonOptions>;
  /** The words that are not options. */
  words: readonly string[];
}

export interface Command<Specs extends OptionSpecs = OptionSpecs> {
  /** One or two words: `up`, `token list`. */
  name: string;
  summary: string;
  /** What follows the name. */
  usage: string;
  /** How many words that are not options it takes. */
  words: { min: number; max: number };
  options: Specs;
  /** Each with what it does. */
  examples: readonly (readonly [line: string, meaning: string])[];
  /** Resolves to the exit code, 0 unless given. */
  run(context: Context<Specs>): Promise<number | undefined>;
}

/** Every command takes these. */
export const commonOptions = {
  json: { type: "boolean", about: "print JSON for programs" },
  help: { type: "boolean", about: "show this help" },
} as const satisfies OptionSpecs;

export const dataOption = {
  data: { type: "string", value: "DIR", about: "data directory (default: $MCPX_DATA, ~/.local/share/mcpx)" },
} as const satisfies OptionSpecs;

/** For commands that talk to a gateway. */
export const gatewayOptions = {
  ...dataOption,
  url: { type: "string", value: "URL", about: "another gateway; needs a token" },
  token: { type: "string", value: "TOKEN", about: "token to use (default: $MCPX_TOKEN, else a fresh one)" },
} as const satisfies OptionSpecs;

/** Keeps the types of a command's options for its `run`, and forgets them for the list of commands. */
export function defineCommand<const Specs extends OptionSpecs>(command: Command<Specs>): Command {
  return command as unknown as Command;
}

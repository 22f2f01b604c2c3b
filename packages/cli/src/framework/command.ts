// What a command is: its words and options, and what it gets to run with.
import type { AskSecret } from "./ask-secret.ts";
import type { Input } from "./input.ts";
import type { Output } from "./output.ts";

/** What the running gateway knows the names of. */
export const nameKinds = [
  "room",
  "participant",
  "proposal",
  "server",
  "tool",
  "changed-tool",
  "disabled-tool",
  "gate",
  "grant",
  "profile",
] as const;

export type NameKind = (typeof nameKinds)[number];

/** What a word or the value of an option can be: one of these words, the name of something, a file or a command. */
export type Values = readonly string[] | NameKind | "file" | "directory" | "command";

export interface OptionSpec {
  type: "string" | "boolean";
  /** Words alone: any other is refused, and what `run` gets is one of them. */
  values?: Values;
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
      : Specs[Name] extends { values: readonly (infer Word)[] }
        ? Word | undefined
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
  /** A secret, typed by a person at the terminal of this process. Throws where there is none. */
  askSecret: AskSecret;
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
  /** A text with its commands named as the user starts this program. */
  hint(text: string): string;
}

/** What help and completion list before anything of the command is loaded. */
export interface ListedCommand {
  /** One or two words: `up`, `token list`. */
  name: string;
  summary: string;
  load(): Promise<Command>;
}

/** What a command takes and does. */
export interface CommandBody<Specs extends OptionSpecs = OptionSpecs> {
  /** What follows the name. */
  usage: string;
  words: WordSpec;
  options: Specs;
  /** Each with what it does. */
  examples: readonly (readonly [line: string, meaning: string])[];
  /** Resolves to the exit code, 0 unless given. */
  run(context: Context<Specs>): Promise<number | undefined>;
}

interface WordSpec {
  /** How many words that are not options it takes. */
  min: number;
  max: number;
  /** What the first, the second and so on can be; those that follow are as the last. */
  values?: readonly (readonly Values[])[];
}

export type Command = CommandBody & Pick<ListedCommand, "name" | "summary">;

/** Every command takes these. */
export const commonOptions = {
  json: { type: "boolean", about: "print JSON for programs" },
  help: { type: "boolean", about: "show this help" },
} as const satisfies OptionSpecs;

export const dataOption = {
  data: {
    type: "string",
    values: "directory",
    value: "DIR",
    about: "data directory (default: $MCPX_DATA, ~/.local/share/mcpx)",
  },
} as const satisfies OptionSpecs;

/** For commands that edit the configuration. */
export const configOption = {
  config: {
    type: "string",
    values: "file",
    value: "FILE",
    about: "configuration to edit (default: ./mcpx.json once accepted, else in the data directory)",
  },
} as const satisfies OptionSpecs;

/** For commands that talk to a gateway. */
export const gatewayOptions = {
  ...dataOption,
  url: { type: "string", value: "URL", about: "another gateway; needs a token" },
  token: { type: "string", value: "TOKEN", about: "token to use (default: $MCPX_TOKEN, else a fresh one)" },
} as const satisfies OptionSpecs;

/** Keeps the types of a command's options for its `run`, and forgets them for the list of commands. */
export function defineCommand<const Specs extends OptionSpecs>(command: CommandBody<Specs>): CommandBody {
  return command as unknown as CommandBody;
}

/** A command in the list: loaded when it is asked for. */
export function listed(name: string, summary: string, load: () => Promise<CommandBody>): ListedCommand {
  return { name, summary, load: async () => ({ name, summary, ...(await load()) }) };
}

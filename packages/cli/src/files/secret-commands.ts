// `${cmd:PROGRAM WORDS…}` in the configuration: secrets out of a keychain or a vault, printed by a program. Programs run
// before the configuration takes effect and beside its work later, never while something waits for their answer.
import { execFile } from "node:child_process";
import { McpxError } from "@mcpx/protocol";

const deadlineMs = 10_000;
const bytesMax = 65_536;
/** A secret may be replaced where it is kept; what is older is asked for again. */
const goodMs = 300_000;
/** A keychain may be opened meanwhile. */
const againMs = 10_000;

export interface SecretCommands {
  /** Runs what these values name and what has not been run. */
  prepare(values: unknown): Promise<void>;
  /** What the program has printed, without the line's end. Throws `server_unreachable`, never with what was printed. */
  read(command: string): string;
}

interface Printed {
  text?: string;
  fault?: string;
  /** Monotonic ms. */
  at: number;
  running: Promise<void> | undefined;
}

export interface CommandWorld {
  env: Readonly<Record<string, string | undefined>>;
  now?: () => number;
}

export function createSecretCommands({ env, now = () => performance.now() }: CommandWorld): SecretCommands {
  const known = new Map<string, Printed>();

  const run = (command: string, printed: Printed): Promise<void> => {
    printed.running ??= print(command, env).then((result) => {
      // A fault leaves the secret that was printed before in place.
      Object.assign(printed, result);
      printed.at = now();
      printed.running = undefined;
    });
    return printed.running;
  };
  const find = (command: string): Printed => {
    const printed: Printed = known.get(command) ?? { at: Number.NEGATIVE_INFINITY, running: undefined };
    known.set(command, printed);
    return printed;
  };
  return {
    async prepare(values) {
      const missing = commandsIn(values).filter((command) => known.get(command)?.text === undefined);
      await Promise.all(missing.map((command) => run(command, find(command))));
    },
    read(command) {
      const printed = find(command);
      const { text, fault = "it has not been run yet", at } = printed;
      if (now() - at > (text === undefined ? againMs : goodMs)) void run(command, printed);
      if (text !== undefined) return text;
      throw new McpxError("server_unreachable", `the command ${programOf(command)}: ${fault}`, {
        suggestion: "Run it as the user of the gateway: it has to print the secret and nothing else",
      });
    },
  };
}

/** The commands that stand in any of these values, each once. */
export function commandsIn(values: unknown): string[] {
  const found = new Set<string>();
  JSON.stringify(values, (_, value: unknown) => {
    for (const command of typeof value === "string" ? namedIn(value) : []) found.add(command);
    return value;
  });
  return [...found];
}

/** No shell reads it: words are parted at spaces. */
export function wordsOf(command: string): string[] {
  return command.split(" ").filter((word) => word !== "");
}

function programOf(command: string): string {
  return wordsOf(command)[0] ?? "";
}

function print(command: string, env: CommandWorld["env"]): Promise<{ text: string } | { fault: string }> {
  const [program = "", ...words] = wordsOf(command);
  const options = {
    env: { ...env },
    cwd: "/",
    timeout: deadlineMs,
    maxBuffer: bytesMax,
    killSignal: "SIGKILL",
  } as const;
  const { promise, resolve: settle } = Promise.withResolvers<{ text: string } | { fault: string }>();
  const child = execFile(program, words, options, (error, stdout) => {
    const text = stdout.trimEnd();
    if (error !== null) settle({ fault: faultOf(error) });
    else settle(text === "" ? { fault: "it has printed nothing" } : { text });
  });
  // Nobody is there to be asked.
  child.stdin?.end();
  return promise;
}

function namedIn(text: string): string[] {
  const [, ...parts] = text.split("${cmd:");
  return parts.filter((part) => part.includes("}")).map((part) => part.slice(0, part.indexOf("}")));
}

function faultOf(error: Error & { code?: number | string | null; killed?: boolean }): string {
  if (error.code === "ERR_CHILD_PROCESS_STDIO_MAXBUFFER") return `it has printed more than ${bytesMax} bytes`;
  if (error.killed === true) return `it has not ended within ${deadlineMs / 1_000} s`;
  if (typeof error.code === "string") return `it cannot be started (${error.code})`;
  return `it has ended with ${error.code ?? "a signal"}`;
}

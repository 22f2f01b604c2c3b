// `${env:NAME}`, `${file:PATH}` and `${cmd:PROGRAM WORDS…}` in a configuration: secrets need not stand in it. Filled in when the server
// is opened, so that what is missing is that server's fault and nobody else's.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { McpxError } from "@mcpx/protocol";
import type { SecretCommands } from "./secret-commands.ts";

export interface FillInFrom {
  /** The directory from which relative paths are resolved. */
  dir: string;
  env: Readonly<Record<string, string | undefined>>;
  /** A running gateway's; nothing else runs programs for a secret. */
  commands?: Pick<SecretCommands, "read"> | undefined;
}

const bytesMax = 65_536;

/** Throws `server_unreachable`, which names what is missing and never what was found. */
export function fillIn(text: string, from: FillInFrom): string {
  return text
    .split("${")
    .map((part, i) => {
      const end = part.indexOf("}");
      const reference = i === 0 || end === -1 ? undefined : part.slice(0, end);
      if (reference?.startsWith("env:")) return variable(reference.slice(4), from) + part.slice(end + 1);
      if (reference?.startsWith("file:")) return content(reference.slice(5), from) + part.slice(end + 1);
      if (reference?.startsWith("cmd:")) return printed(reference.slice(4), from) + part.slice(end + 1);
      return i === 0 ? part : `\${${part}`;
    })
    .join("");
}

export function fillInAll(texts: Readonly<Record<string, string>>, from: FillInFrom): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, fillIn(text, from)]));
}

function variable(name: string, { env }: FillInFrom): string {
  const value = env[name];
  if (value !== undefined) return value;
  throw new McpxError("server_unreachable", `the environment variable ${name} is not set`, {
    suggestion: `Set ${name} where mcpx is started`,
  });
}

function printed(command: string, { commands }: FillInFrom): string {
  if (commands !== undefined) return commands.read(command);
  throw new McpxError("server_unreachable", "only a running gateway runs programs for a secret");
}

/** A file's content without the last line end, which editors add. */
function content(path: string, { dir }: FillInFrom): string {
  let text: string;
  try {
    text = readFileSync(resolve(dir, path), "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new McpxError("server_unreachable", `the file ${path} cannot be read (${code})`);
  }
  if (text.length > bytesMax) throw new McpxError("server_unreachable", `the file ${path} is too long`);
  return text.trimEnd();
}

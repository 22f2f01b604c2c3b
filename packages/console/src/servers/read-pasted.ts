// A server as people have it at hand: a command line, an address, or a snippet of another program's configuration. Read
// into the fields of the form, where a person sees it before anything is done. Pure.
import { isObject, type JsonObject } from "@mcpx/protocol";
import type { Pair } from "./server-change.ts";

export interface PastedServer {
  readonly name: string;
  /** A command and its arguments; empty for an address. */
  readonly words: readonly string[];
  readonly url: string;
  /** Variables of a command, headers of an address. */
  readonly pairs: readonly Pair[];
}

type Pasted = { servers: readonly PastedServer[] } | { fault: string };

const serversMax = 100;

export function readPasted(given: string): Pasted {
  const text = given.trim();
  if (/^https?:\/\/\S+$/i.test(text)) {
    return { servers: [{ name: nameOfUrl(text), words: [], url: text, pairs: [] }] };
  }
  return text.startsWith("{") || text.startsWith('"') ? readSnippet(text) : readCommandLine(text);
}

/** `{"mcpServers": {…}}`, the inside of it, one server, or a line of a file with its name before it. */
function readSnippet(text: string): Pasted {
  const whole = text.startsWith('"') ? `{${text.endsWith(",") ? text.slice(0, -1) : text}}` : text;
  let value: unknown;
  try {
    value = JSON.parse(whole);
  } catch (error) {
    return { fault: `This is not JSON: ${(error as Error).message}` };
  }
  if (!isObject(value)) return { fault: "The snippet must be a JSON object" };
  const { mcpServers, servers } = value;
  const inside = isObject(mcpServers) ? mcpServers : isObject(servers) ? servers : value;
  const entries = isEntry(inside) ? [["", inside] as const] : Object.entries(inside).slice(0, serversMax);
  const read = entries.flatMap(([name, entry]) => (isEntry(entry) ? [readEntry(name, entry)] : []));
  return read.length > 0
    ? { servers: read }
    : { fault: "The snippet has no server: one has a command, or a url" };
}

function isEntry(value: unknown): value is JsonObject {
  return isObject(value) && (typeof value.command === "string" || typeof value.url === "string");
}

function readEntry(name: string, { command, args, url, env, headers }: JsonObject): PastedServer {
  const pairsOf = (value: unknown) =>
    isObject(value) ? Object.entries(value).map(([key, one]) => ({ name: key, value: String(one) })) : [];
  if (typeof url === "string") {
    return { name: name || nameOfUrl(url), words: [], url, pairs: pairsOf(headers) };
  }
  const words = [String(command), ...(Array.isArray(args) ? args.map(String) : [])];
  return { name: name || nameOfWords(words), words, url: "", pairs: pairsOf(env) };
}

/** Also with variables before it, and as it was given to another program's `mcp add NAME --`. */
function readCommandLine(text: string): Pasted {
  const split = splitWords(text);
  if ("fault" in split) return split;
  const added = /^(?:\S+ )?(?:mcp )?add$/;
  const dashes = split.words.indexOf("--");
  const isAdding =
    dashes > 1 && split.words.slice(0, dashes).some((_, i, all) => added.test(all.slice(0, i + 1).join(" ")));
  const before = isAdding ? split.words.slice(0, dashes) : [];
  const rest = isAdding ? split.words.slice(dashes + 1) : split.words;
  const first = rest.findIndex((word) => !/^[A-Za-z_][A-Za-z0-9_]*=/.test(word));
  const words = first === -1 ? [] : rest.slice(first);
  if (words.length === 0) return { fault: "The line has no command" };
  const pairs = rest.slice(0, first === -1 ? 0 : first).map((word) => {
    const at = word.indexOf("=");
    return { name: word.slice(0, at), value: word.slice(at + 1) };
  });
  const given = before.at(-1);
  const name = given === undefined || given.startsWith("-") || given === "add" ? nameOfWords(words) : given;
  return { servers: [{ name, words, url: "", pairs }] };
}

/** As a shell would split it, but nothing else of a shell: what it would do beside is refused. */
export function splitWords(text: string): { words: string[] } | { fault: string } {
  const words: string[] = [];
  let word: string | undefined;
  let quote = "";
  for (let at = 0; at < text.length; at += 1) {
    const sign = text[at] as string;
    if (quote === "'" ? sign === "'" : quote === '"' && sign === '"') quote = "";
    else if (quote === "'") word = `${word ?? ""}${sign}`;
    else if (
      sign === "\\" &&
      text[at + 1] !== undefined &&
      (quote === "" || '"\\$`'.includes(text[at + 1] as string))
    ) {
      at += 1;
      if (text[at] !== "\n") word = `${word ?? ""}${text[at]}`;
    } else if (quote === "" && (sign === "'" || sign === '"')) {
      quote = sign;
      word ??= "";
    } else if (
      sign === "`" ||
      (sign === "$" && quote !== "'") ||
      (quote === "" && "|&;<>()".includes(sign))
    ) {
      return {
        fault: `No shell reads this line: ${sign} would have no meaning. Put it into quotes, or leave it out`,
      };
    } else if (quote === "" && /\s/.test(sign)) {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else word = `${word ?? ""}${sign}`;
  }
  if (quote !== "") return { fault: `A ${quote} has no end` };
  return { words: word === undefined ? words : [...words, word] };
}

/** The package it runs, without what packages of servers are all called. */
function nameOfWords(words: readonly string[]): string {
  const [command = "", ...args] = words;
  const isRunner = /^(?:npx|uvx|bunx|pnpx|node|python3?|uv|docker|deno|npm)(?:\.exe|\.cmd)?$/.test(
    command.split(/[\\/]/).at(-1) ?? command,
  );
  const named = isRunner
    ? (args.find((word) => !word.startsWith("-") && !["run", "dlx", "exec"].includes(word)) ?? command)
    : command;
  const last = named.split(/[\\/]/).at(-1) ?? named;
  const version = last.lastIndexOf("@");
  const bare = (version === -1 ? last : last.slice(0, version))
    .replace(/\.(?:m?[jt]s|py|exe|cmd)$/, "")
    .replace(/^(?:mcp-server|server|mcp)-|-(?:mcp-server|mcp|server)$/g, "");
  return plainName(bare || last);
}

function nameOfUrl(url: string): string {
  const host = URL.canParse(url) ? new URL(url).hostname : "";
  const parts = host
    .split(".")
    .filter((part) => !/^(?:www|mcp|api|com|org|net|io|dev|app|ai|\d+)$/.test(part));
  return plainName(parts[0] ?? host);
}

function plainName(text: string): string {
  const plain = text.replaceAll(/[^\p{L}\p{N}_-]/gu, "-").replace(/^[-_]+/, "");
  let end = plain.length;
  while (plain.charAt(end - 1) === "-") end -= 1;
  return plain.slice(0, Math.min(end, 60));
}

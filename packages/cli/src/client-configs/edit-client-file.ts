// Our entry in a client's file: put in, taken out, and everything else the same. That is not believed but compared.
import { isDeepStrictEqual } from "node:util";
import { isObject, type JsonObject } from "@mcpx/protocol";
import { removeProperty, setProperty } from "../config-edit/edit-json.ts";
import { Failure } from "../framework/failure.ts";
import { secretsIn } from "../framework/secrets.ts";
import type { Client } from "./client.ts";
import { removeTable, setTable } from "./edit-toml.ts";
import { parseClientFile, valueAt } from "./parse-client-file.ts";

type Target = Pick<Client, "format" | "entryPath">;

/** The value of mcpx's entry in the file, if there is one. */
export function entryIn(text: string, { format, entryPath }: Target, file: string): unknown {
  return valueAt(parseClientFile(format, text, file).value, entryPath);
}

/** Whatever in the file must not be shown, ours or not: what is around a change is shown too. */
export function fileSecrets(text: string, { format }: Target, file: string): string[] {
  return secretsIn(parseClientFile(format, text, file).value);
}

/** The text with this entry for mcpx; with `undefined`, without an entry. */
export function withEntry(text: string, entry: JsonObject | undefined, target: Target, file: string): string {
  const { format, entryPath } = target;
  const before = parseClientFile(format, text, file).value;
  const [group] = entryPath;
  const servers = valueAt(before, [group]);
  if (servers !== undefined && !isObject(servers))
    throw new Failure(`${file}: ${group} is not an object`, "correct it there first");
  const edited = edit(text, entry, target, file);
  if (isAsMeant(before, edited, entry, target, file)) return edited;
  const fix = "put it there yourself: --print shows what";
  throw new Failure(`${file} is written in a way that cannot be edited safely, so it was left alone`, fix);
}

function edit(
  text: string,
  entry: JsonObject | undefined,
  { format, entryPath }: Target,
  file: string,
): string {
  if (format === "toml")
    return entry === undefined ? removeTable(text, entryPath) : setTable(text, entryPath, entry);
  return entry === undefined ? removeProperty(text, entryPath) : setProperty(text, entryPath, entry, file);
}

function isAsMeant(
  before: unknown,
  edited: string,
  entry: JsonObject | undefined,
  { format, entryPath }: Target,
  file: string,
): boolean {
  let after: unknown;
  try {
    after = parseClientFile(format, edited, file).value;
  } catch {
    return false;
  }
  const found = valueAt(after, entryPath);
  const isThere = entry === undefined ? found === undefined : isDeepStrictEqual(plain(found), plain(entry));
  return isThere && isDeepStrictEqual(plain(without(before, entryPath)), plain(without(after, entryPath)));
}

/** An empty group is as good as none: the first entry makes it. */
function without(value: unknown, [group, name]: readonly [string, string]): unknown {
  if (!isObject(value) || !isObject(value[group])) return value;
  const { [name]: _, ...others } = value[group];
  const { [group]: __, ...rest } = value;
  return Object.keys(others).length === 0 ? rest : { ...rest, [group]: others };
}

/** Parsers give their objects natures of their own, which say nothing. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (!isObject(value) || value instanceof Date) return value;
  return new Map(Object.entries(value).map(([key, inner]) => [key, plain(inner)]));
}

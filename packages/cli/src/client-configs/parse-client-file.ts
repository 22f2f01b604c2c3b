// A client's file as a value, with the places of what stands in it. Whatever is in it was written by strangers.
import { isObject } from "@mcpx/protocol";
import {
  createScanner,
  findNodeAtLocation,
  getNodeValue,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import { parse as parseToml, TomlError } from "smol-toml";
import { Failure } from "../framework/failure.ts";

export interface ParsedFile {
  /** Objects in it may have any key: look only at their own. */
  value: unknown;
  /** `FILE:LINE:COLUMN` of what stands at that path, or of the nearest thing around it. */
  placeOf(path: readonly string[]): string;
}

/** Deeper than any settings, far from the depth that ends a parser. */
const depthMax = 100;

export function parseClientFile(format: "json" | "toml", text: string, path: string): ParsedFile {
  return format === "json" ? parseJson(text, path) : parseTomlFile(text, path);
}

function parseJson(text: string, path: string): ParsedFile {
  const at = (offset: number) => `${path}:${lineColumn(text, offset)}`;
  // A client that was just installed has an empty file.
  if (text.trim() === "") return { value: {}, placeOf: () => at(0) };
  const deep = tooDeepAt(text);
  if (deep !== undefined) throw new Failure(`${at(deep)} is nested deeper than ${depthMax}`);
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [first] = errors;
  if (root === undefined || first !== undefined) {
    throw new Failure(`${at(first?.offset ?? 0)} is not JSON: ${syntaxFault(first?.error ?? 4)}`);
  }
  if (root.type !== "object") throw new Failure(`${at(root.offset)} is not an object`);
  return {
    value: getNodeValue(root),
    placeOf(wanted) {
      for (let length = wanted.length; length > 0; length -= 1) {
        const node = findNodeAtLocation(root, wanted.slice(0, length));
        if (node !== undefined) return at((node.parent?.type === "property" ? node.parent : node).offset);
      }
      return at(root.offset);
    },
  };
}

function parseTomlFile(text: string, path: string): ParsedFile {
  try {
    const value: unknown = parseToml(text, { maxDepth: depthMax });
    return { value, placeOf: (wanted) => `${path}:${tomlLine(text, wanted)}` };
  } catch (error) {
    if (!(error instanceof TomlError)) throw new Failure(`${path} is not TOML`, undefined, { cause: error });
    // The lines after the first quote the file, and with it its secrets.
    const why = error.message.split("\n")[0]?.replace(/^Invalid TOML document: */, "");
    throw new Failure(`${path}:${error.line}:${error.column} is not TOML: ${why}`);
  }
}

/** The line of the table's head, or the first. The parser keeps no places. */
function tomlLine(text: string, wanted: readonly string[]): string {
  const lines = text.split("\n");
  for (let length = wanted.length; length > 0; length -= 1) {
    const head = wanted.slice(0, length).join(".");
    const index = lines.findIndex((line) => tomlHead(line) === head);
    if (index !== -1) return `${index + 1}:1`;
  }
  return "1:1";
}

/** `[a."b"]` → `a.b`; anything but a table's head is none. */
export function tomlHead(line: string): string | undefined {
  const [, inner] = /^\s*\[\[?([^[\]]*)\]\]?\s*(?:#.*)?$/.exec(line) ?? [];
  return inner
    ?.split(".")
    .map((part) => part.trim().replace(/^(["'])(.*)\1$/, "$2"))
    .join(".");
}

function tooDeepAt(text: string): number | undefined {
  const scanner = createScanner(text, true);
  let depth = 0;
  // Braces and brackets are the tokens 1 to 4, the end is 17; the library's enum cannot be had here.
  for (let token: number = scanner.scan(); token !== 17; token = scanner.scan()) {
    if (token === 1 || token === 3) depth += 1;
    else if (token === 2 || token === 4) depth -= 1;
    if (depth > depthMax) return scanner.getTokenOffset();
  }
  return undefined;
}

/** What stands at a path, looking only at objects' own keys. */
export function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (holder, key) => (isObject(holder) && Object.hasOwn(holder, key) ? holder[key] : undefined),
    value,
  );
}

function lineColumn(text: string, offset: number): string {
  const before = text.slice(0, offset);
  return `${before.split("\n").length}:${offset - before.lastIndexOf("\n")}`;
}

/** `CommaExpected` → `comma expected`. */
function syntaxFault(error: number): string {
  return printParseErrorCode(error)
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase();
}

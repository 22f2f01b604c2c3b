// Reads and checks `mcpx.json`. All that is wrong with it is told at once, each fault with its place.
import {
  findNodeAtLocation,
  getNodeValue,
  type Node,
  type ParseError,
  parseTree,
  printParseErrorCode,
} from "jsonc-parser";
import type { core } from "zod";
import { Failure } from "../framework/failure.ts";
import { type Config, configSchema } from "./config-schema.ts";
import { type ConfigPlaces, findConfig } from "./find-config.ts";
import { notAccepted } from "./trust-words.ts";

export type { Config };

export interface LoadedConfig {
  /** Where it was found; `undefined` where there is none. */
  path: string | undefined;
  config: Config;
  /** It counts because it was accepted, and as it was; `waiting`: the file says something else by now. */
  accepted?: "as it is" | "waiting" | undefined;
}

interface Problem {
  path: readonly PropertyKey[];
  message: string;
}

/** `--config`, else the working directory's where it was accepted, else the data directory's; with none, all defaults. */
export function loadConfig(places: ConfigPlaces): LoadedConfig {
  const found = findConfig(places);
  if (found === undefined) return { path: undefined, config: {} };
  const { path, text } = found;
  if (found.kind === "ours") return { path, config: parseConfig(text, path) };
  const { accepted } = found;
  if (accepted === undefined) throw notAccepted(path, places.dataDir);
  // What was read is what is compared, and what is used is what was accepted: the file may be another by now.
  const isWaiting = accepted.text !== text;
  return { path, config: parseConfig(accepted.text, path), accepted: isWaiting ? "waiting" : "as it is" };
}

/** `path` is what messages call the file. */
export function parseConfig(text: string, path: string): Config {
  const errors: ParseError[] = [];
  const root = parseTree(text.replace(/^\ufeff/, " "), errors, { allowTrailingComma: true });
  if (root === undefined || errors.length > 0) {
    const first = errors[0] ?? { error: 4, offset: 0 };
    const fault = `${path}:${lineColumn(text, first.offset)} is not JSON: ${syntaxFault(first)}`;
    throw new Failure(fault, "correct it there; comments and trailing commas are fine");
  }
  const problems = doubledKeys(root);
  const result = configSchema.safeParse(getNodeValue(root));
  if (!result.success) problems.push(...result.error.issues.flatMap(toProblems));
  if (problems.length > 0 || !result.success) throw refusal(problems, root, text, path);
  return result.data;
}

/** In the order of the file. */
function refusal(problems: readonly Problem[], root: Node, text: string, file: string): Failure {
  const lines = problems
    .map(({ path, message }) => ({ key: keyText(path), message, offset: nodeAt(root, path).offset }))
    .sort((a, b) => a.offset - b.offset)
    .map(
      ({ key, message, offset }) =>
        `${file}:${lineColumn(text, offset)} ${key === "" ? "" : `${key}: `}${message}`,
    );
  const [first = ""] = lines;
  if (lines.length === 1) return new Failure(first);
  return new Failure(`${file} has ${lines.length} faults:`, undefined, { details: lines });
}

/** The value at a path, or the nearest thing around it that is there. */
function nodeAt(root: Node, path: readonly PropertyKey[]): Node {
  for (let length = path.length; length > 0; length -= 1) {
    const node = findNodeAtLocation(root, path.slice(0, length) as (string | number)[]);
    // Where there is a key, it is what the eye looks for.
    if (node !== undefined) return node.parent?.type === "property" ? node.parent : node;
  }
  return root;
}

function toProblems(issue: core.$ZodIssue): Problem[] {
  if (issue.code === "unrecognized_keys") {
    const messages = issue.message.split("\n");
    return issue.keys.map((key, index) => ({ path: [...issue.path, key], message: messages[index] ?? "" }));
  }
  if (issue.code === "invalid_key") {
    return [{ path: issue.path, message: issue.issues[0]?.message ?? "this cannot be a name" }];
  }
  return [{ path: issue.path, message: issue.message }];
}

/** JSON itself would silently take the last of two; and one name would vanish into the object's own nature. */
function doubledKeys(node: Node, path: readonly PropertyKey[] = []): Problem[] {
  const problems: Problem[] = [];
  const seen = new Set<PropertyKey>();
  (node.children ?? []).forEach((child, index) => {
    const [key, value] = child.type === "property" ? (child.children ?? []) : [undefined, child];
    const name: PropertyKey = key === undefined ? index : String(key.value);
    if (name === "__proto__")
      problems.push({ path: [...path, name], message: "cannot be a name; use another" });
    else if (seen.has(name))
      problems.push({ path: [...path, name], message: "is given twice; keep one of them" });
    seen.add(name);
    if (value !== undefined) problems.push(...doubledKeys(value, [...path, name]));
  });
  return problems;
}

/** `topics.demo.history`, `issuers[0].level`. */
function keyText(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === "number") return `${text}[${part}]`;
    return text === "" ? String(part) : `${text}.${String(part)}`;
  }, "");
}

function lineColumn(text: string, offset: number): string {
  const before = text.slice(0, offset).split("\n");
  return `${before.length}:${(before.at(-1)?.length ?? 0) + 1}`;
}

/** `CommaExpected` → `comma expected`. */
function syntaxFault({ error }: Pick<ParseError, "error">): string {
  return printParseErrorCode(error)
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .toLowerCase();
}

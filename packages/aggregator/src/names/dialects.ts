// How names look at a client's endpoint. Policy uses canonical names; models take a smaller alphabet, so clients get a
// rendering, looked up in a map and never parsed back. A rendering depends on its own name alone: what other servers
// list, or whether they are there, changes nobody's. Pure.
import { fallApart } from "./fall-apart.ts";
import { mark, markChars } from "./segment.ts";

/**
 * `canonical`: dotted. `safe`: letters, digits, `_`, `-`, a letter first, as every model takes them. `strict`:
 * `[a-z0-9_]`, a letter first. Clients put a prefix of their own before names, and models take 64 characters with it.
 */
export const dialects = ["canonical", "safe", "strict"] as const;

export type Dialect = (typeof dialects)[number];
export type Rendered = Exclude<Dialect, "canonical">;

export function isDialect(value: unknown): value is Dialect {
  return dialects.includes(value as Dialect);
}

const modelCharsMax = 64;

/** Of a name without its client's prefix: `mcp__mcpx__` is Claude Code's, others' are shorter or up to 16. */
export const renderedCharsMax = { safe: modelCharsMax - "mcp__mcpx__".length, strict: 48 } as const;

const alphabets = {
  safe: { foreign: /[^A-Za-z0-9_-]/g, lost: /[^A-Za-z0-9_.-]/ },
  // Of `read-file` and `read_file` a server hardly has both: those who do get marks for both.
  strict: { foreign: /[^a-z0-9_]/g, lost: /[^a-z0-9_.-]/ },
} as const;

/** What a name would be on its own. Where another name could look the same, it ends with a mark of the whole name. */
export function renderName(name: string, dialect: Rendered): string {
  const { lost } = alphabets[dialect];
  const plain = plainName(name, dialect);
  const isCertain = /^[A-Za-z]/.test(name) && !lost.test(name) && !isAmbiguous(name);
  return isCertain && plain.length <= renderedCharsMax[dialect] ? plain : markedName(name, dialect);
}

/** Every name with its rendering, all of them different. */
export function renderNames(names: Iterable<string>, dialect: Rendered): Map<string, string> {
  return fallApart(names, {
    keeps: () => false,
    wish: (name) => renderName(name, dialect),
    marked: (name) => markedName(name, dialect),
  });
}

/** How all names behind a segment begin, unless they are cut before. */
export function renderedBeginning(segment: string, dialect: Rendered): string {
  return plainName(`${segment}.`, dialect).slice(0, renderedCharsMax[dialect] - markChars - 1);
}

function plainName(name: string, dialect: Rendered): string {
  const text = name.replaceAll(".", "__").replace(alphabets[dialect].foreign, "_");
  return /^[A-Za-z]/.test(text) ? text : `t_${text}`;
}

function markedName(name: string, dialect: Rendered): string {
  return `${plainName(name, dialect).slice(0, renderedCharsMax[dialect] - markChars - 1)}_${mark(name)}`;
}

/** `__` stands for a dot; `a__b`, `a_.b` and `a._b` would look like other names. */
function isAmbiguous(name: string): boolean {
  return name.includes("__") || name.includes("_.") || name.includes("._");
}

/** A full name in the words of a caller of this dialect, for advice and errors. */
export function nameIn(dialect: Dialect, fullName: string): string {
  return dialect === "canonical" ? fullName : renderName(fullName, dialect);
}

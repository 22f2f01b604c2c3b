// Changes one table of a TOML text, and not a character besides. The text is cut by lines; the caller compares
// what the parser says before and after, so that a line which only looks like a table's head is noticed. Pure.
import { tomlHead } from "./parse-client-file.ts";

type Path = readonly string[];

/** The text with that table, in the place of the one before or at the end. */
export function setTable(text: string, path: Path, table: Readonly<Record<string, unknown>>): string {
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = [`[${path.map(keyText).join(".")}]`];
  for (const [key, value] of Object.entries(table)) lines.push(`${keyText(key)} = ${valueText(value)}`);
  const { before, after, isFound } = split(text, path);
  if (isFound) return `${before}${lines.join(eol)}${eol}${after}`;
  const gap = text.trim() === "" ? "" : text.endsWith("\n") ? eol : eol + eol;
  return `${text}${gap}${lines.join(eol)}${eol}`;
}

export function removeTable(text: string, path: Path): string {
  const { before, after, isFound } = split(text, path);
  if (!isFound) return text;
  // The empty line that set it off goes with it.
  return after === "" ? before.replace(/\r?\n(\r?\n)$/, "$1") : before + after;
}

/** The text around the table and the tables inside it. */
function split(text: string, path: Path): { before: string; after: string; isFound: boolean } {
  const name = path.join(".");
  const lines = text.split(/(?<=\n)/);
  const isInside = (line: string) => {
    const head = tomlHead(line);
    return head === name || head?.startsWith(`${name}.`) === true;
  };
  const first = lines.findIndex(isInside);
  if (first === -1) return { before: text, after: "", isFound: false };
  let end = first + 1;
  while (end < lines.length && (tomlHead(lines[end] ?? "") === undefined || isInside(lines[end] ?? "")))
    end += 1;
  // Comments and empty lines above the next head belong to it.
  while (end > first + 1 && end < lines.length && /^\s*(#.*)?$/.test(lines[end - 1]?.trimEnd() ?? ""))
    end -= 1;
  return { before: lines.slice(0, first).join(""), after: lines.slice(end).join(""), isFound: true };
}

function keyText(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
}

/** Texts, lists of them and flat tables are all we write. A JSON text is a TOML one. */
function valueText(value: unknown): string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return JSON.stringify(value);
  const pairs = Object.entries(value).map(([key, inner]) => `${keyText(key)} = ${JSON.stringify(inner)}`);
  return `{ ${pairs.join(", ")} }`;
}

// Changes one property of a JSON text with comments, and not a character besides. The library's own edits would move
// or swallow comments beside the property, so only its tree and scanner are used. Pure.
import { isObject } from "@mcpx/protocol";
import { applyEdits, createScanner, type Edit, findNodeAtLocation, type Node, parseTree } from "jsonc-parser";
import { Failure } from "../framework/failure.ts";

type Path = readonly string[];

/** Of the library's `SyntaxKind`, which cannot be had in isolated modules. */
const commaToken = 5;
const lineComment = 12;
const blockComment = 13;
const lineBreak = 14;
const blank = 15;
const listCharsMax = 80;

/** `path` may lead through objects that are not there yet; `file` is what messages call the text. */
export function setProperty(text: string, path: Path, value: unknown, file: string): string {
  const style = styleOf(text);
  if (text.trim() === "") return `${render(nest(path, value), "", style)}${style.eol}`;
  const root = parseRoot(text);
  const existing = findNodeAtLocation(root, [...path]);
  if (existing !== undefined) {
    const content = render(value, indentAt(text, existing.offset), style);
    return applyEdits(text, [{ offset: existing.offset, length: existing.length, content }]);
  }
  let depth = path.length - 1;
  while (depth > 0 && findNodeAtLocation(root, path.slice(0, depth)) === undefined) depth -= 1;
  const holder = findNodeAtLocation(root, path.slice(0, depth)) ?? root;
  if (holder.type !== "object") {
    const name = depth === 0 ? "it" : path.slice(0, depth).join(".");
    throw new Failure(`${file}: ${name} is not an object`, "correct it there first");
  }
  const key = path[depth] ?? "";
  return applyEdits(text, insertion(text, holder, key, nest(path.slice(depth + 1), value), style));
}

/** The text without that property; comments stay. */
export function removeProperty(text: string, path: Path): string {
  const property = findNodeAtLocation(parseRoot(text), [...path])?.parent;
  const holder = property?.parent;
  if (property === undefined || holder === undefined) return text;
  const siblings = holder.children ?? [];
  const previous = siblings[siblings.indexOf(property) - 1];
  const end = endOf(property);
  const close = endOf(holder) - 1;
  const comma = commaAfter(text, end);
  const edits: Edit[] = [];
  if (comma === undefined && previous !== undefined) {
    const orphan = commaAfter(text, endOf(previous));
    if (orphan !== undefined) edits.push({ offset: orphan, length: 1, content: "" });
  }
  if (
    siblings.length === 1 &&
    text.slice(holder.offset + 1, close).trim() === text.slice(property.offset, end)
  ) {
    return applyEdits(text, [{ offset: holder.offset, length: holder.length, content: "{}" }]);
  }
  edits.push(...wholeLines(text, property.offset, end, comma));
  return applyEdits(text, edits);
}

/**
 * The list at `path` with these items, or the text without it where there are none. A number stands for the item that is
 * there now: it keeps its text, with the comments above it and behind it.
 */
export function setItems(
  text: string,
  path: Path,
  items: readonly (number | object)[],
  file: string,
): string {
  if (items.length === 0) return removeProperty(text, path);
  const list = text.trim() === "" ? undefined : findNodeAtLocation(parseRoot(text), [...path]);
  if (list?.type !== "array") return setProperty(text, path, items, file);
  const style = styleOf(text);
  const outer = indentAt(text, list.offset);
  const indent = outer + style.unit;
  const { kept, below } = itemTexts(text, list);
  const lines = items.flatMap((item, index) => {
    const fresh = { above: [], own: render(item, indent, style), behind: [] };
    const { above, own, behind } = (typeof item === "number" ? kept[item] : undefined) ?? fresh;
    return [...above, [index < items.length - 1 ? `${own},` : own, ...behind].join(" ")];
  });
  const content = ["[", ...[...lines, ...below].map((line) => indent + line), `${outer}]`].join(style.eol);
  return applyEdits(text, [{ offset: list.offset, length: list.length, content }]);
}

interface ItemText {
  /** Comments between the item before and this one. */
  above: string[];
  own: string;
  /** Comments on the rest of its last line. */
  behind: string[];
}

function itemTexts(text: string, list: Node): { kept: ItemText[]; below: string[] } {
  let from = list.offset + 1;
  const kept = (list.children ?? []).map((item) => {
    const above = commentsAt(text, from, false).comments;
    const behind = commentsAt(text, endOf(item), true);
    from = behind.end;
    return { above, own: text.slice(item.offset, endOf(item)), behind: behind.comments };
  });
  return { kept, below: commentsAt(text, from, false).comments };
}

/** The comments that come next, commas aside, until something else comes or, where it is wanted, the line ends. */
function commentsAt(text: string, from: number, isLine: boolean): { comments: string[]; end: number } {
  const scanner = createScanner(text, false);
  scanner.setPosition(from);
  const comments: string[] = [];
  let end = from;
  for (;;) {
    const token: number = scanner.scan();
    if (token === lineComment || token === blockComment)
      comments.push(text.slice(scanner.getTokenOffset(), scanner.getPosition()));
    else if (token === lineBreak ? isLine : token !== blank && token !== commaToken) return { comments, end };
    end = scanner.getPosition();
  }
}

interface Style {
  unit: string;
  eol: string;
}

function insertion(text: string, holder: Node, key: string, value: unknown, style: Style): Edit[] {
  const last = holder.children?.at(-1);
  const close = endOf(holder) - 1;
  const start = last === undefined ? holder.offset + 1 : endOf(last);
  const comma = last === undefined ? undefined : commaAfter(text, start);
  // Behind the comments that belong to the last one.
  const at = start + text.slice(start, close).trimEnd().length;
  const outer = indentAt(text, holder.offset);
  const first = holder.children?.[0];
  const isOwnLine =
    first !== undefined && text.slice(lineStart(text, first.offset), first.offset).trim() === "";
  const indent = isOwnLine ? indentAt(text, first.offset) : outer + style.unit;
  const property = `${style.eol}${indent}${JSON.stringify(key)}: ${render(value, indent, style)}`;
  const isClosedBelow = text.slice(at, close).includes("\n");
  const length = isClosedBelow ? 0 : close - at;
  const content = `${property}${comma === undefined ? "" : ","}${isClosedBelow ? "" : style.eol + outer}`;
  const edits: Edit[] = [{ offset: at, length, content }];
  if (last === undefined || comma !== undefined) return edits;
  if (start === at) return [{ offset: at, length, content: `,${content}` }];
  return [{ offset: start, length: 0, content: "," }, ...edits];
}

/** Takes the property and its comma out; where nothing else stands on its lines, the lines too. */
function wholeLines(text: string, offset: number, end: number, comma: number | undefined): Edit[] {
  const from = lineStart(text, offset);
  const newline = text.indexOf("\n", comma ?? end);
  const until = newline === -1 ? text.length : newline + 1;
  const behind =
    comma === undefined ? text.slice(end, until) : text.slice(end, comma) + text.slice(comma + 1, until);
  if (text.slice(from, offset).trim() === "" && behind.trim() === "") {
    return [{ offset: from, length: until - from, content: "" }];
  }
  const edits: Edit[] = [{ offset, length: end - offset, content: "" }];
  if (comma !== undefined) edits.push({ offset: comma, length: 1, content: "" });
  return edits;
}

/** The comma that comes next, comments aside. */
function commaAfter(text: string, from: number): number | undefined {
  const scanner = createScanner(text, true);
  scanner.setPosition(from);
  const token: number = scanner.scan();
  return token === commaToken ? scanner.getTokenOffset() : undefined;
}

/** Lists of a few words stay on their line. */
function render(value: unknown, indent: string, style: Style): string {
  const inner = indent + style.unit;
  if (Array.isArray(value)) {
    const line = `[${value.map((item) => JSON.stringify(item)).join(", ")}]`;
    if (line.length <= listCharsMax) return line;
    const items = value.map((item) => `${inner}${render(item, inner, style)}`);
    return `[${style.eol}${items.join(`,${style.eol}`)}${style.eol}${indent}]`;
  }
  if (!isObject(value)) return JSON.stringify(value);
  const properties = Object.entries(value).map(
    ([key, item]) => `${inner}${JSON.stringify(key)}: ${render(item, inner, style)}`,
  );
  if (properties.length === 0) return "{}";
  return `{${style.eol}${properties.join(`,${style.eol}`)}${style.eol}${indent}}`;
}

function nest(path: Path, value: unknown): unknown {
  return path.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value);
}

/** Indentation and line ends as the file has them. */
function styleOf(text: string): Style {
  const unit = /^([ \t]+)["}\]]/m.exec(text)?.[1] ?? "  ";
  return {
    unit: unit.startsWith("\t") ? "\t" : unit.slice(0, 8),
    eol: text.includes("\r\n") ? "\r\n" : "\n",
  };
}

function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(text.slice(lineStart(text, offset)))?.[0] ?? "";
}

function lineStart(text: string, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf("\n", offset - 1) + 1;
}

function endOf({ offset, length }: Node): number {
  return offset + length;
}

function parseRoot(text: string): Node {
  const root = parseTree(text, [], { allowTrailingComma: true });
  if (root === undefined) throw new Failure("there is no JSON to edit");
  return root;
}

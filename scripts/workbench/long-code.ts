// Functions and files that ask to be two. Finds them in one source; pure.
import { parseAst } from "rolldown/parseAst";

export const longest = { functionLines: 70, fileLines: 400 };

export interface LongFunction {
  name: string;
  /** Where it begins, from 1. */
  line: number;
  lines: number;
}

interface Node {
  type: string;
  start: number;
  end: number;
}

const functionTypes = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

export function countLines(source: string): number {
  return source.split("\n").length - (source.endsWith("\n") ? 1 : 0);
}

/** Of TypeScript, or of the scripts of a Svelte component. */
export function longFunctions(source: string, isSvelte = false): LongFunction[] {
  return (isSvelte ? scriptsOf(source) : [{ code: source, linesBefore: 0 }]).flatMap(
    ({ code, linesBefore }) =>
      functionsIn(code)
        .filter(({ lines }) => lines > longest.functionLines)
        .map((found) => ({ ...found, line: found.line + linesBefore })),
  );
}

function scriptsOf(source: string): { code: string; linesBefore: number }[] {
  return [...source.matchAll(/(<script\b[^>]*>)([\s\S]*?)<\/script>/g)].map(
    ({ index, 1: tag = "", 2: code = "" }) => ({
      code,
      linesBefore: lineAt(source, index + tag.length) - 1,
    }),
  );
}

function functionsIn(code: string): LongFunction[] {
  const found: LongFunction[] = [];
  const walk = (node: Node, name: string) => {
    if (functionTypes.has(node.type)) {
      const line = lineAt(code, node.start);
      found.push({
        name: nameOf(node) ?? (name || "a function without a name"),
        line,
        lines: lineAt(code, node.end) - line + 1,
      });
    }
    for (const child of Object.values(node).flat()) {
      if (isNode(child)) walk(child, namesWhatItHolds(node) ? (nameOf(node) ?? "") : "");
    }
  };
  walk(parseAst(code, { lang: "ts" }) as Node, "");
  return found;
}

/** `const NAME = …`, `NAME: …`, `NAME() …`. */
function namesWhatItHolds({ type }: Node): boolean {
  return ["VariableDeclarator", "Property", "PropertyDefinition", "MethodDefinition"].includes(type);
}

function nameOf(node: Node): string | undefined {
  const { id, key } = node as { id?: unknown; key?: unknown };
  const named = id ?? key;
  return isNode(named) && "name" in named ? String(named.name) : undefined;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split("\n").length;
}

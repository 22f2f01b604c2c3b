// The texts that a person can see, in one source file: what they are and where they stand. The parsers of TypeScript and
// of Svelte find them. Pure.
import { parseAst } from "rolldown/parseAst";
import { parse } from "svelte/compiler";

type TextKind = "error" | "log" | "output" | "help" | "label" | "text";

export interface SeenText {
  /** From 1. */
  line: number;
  kind: TextKind;
  /** One line; values that are put in when it is shown stand in braces. */
  text: string;
}

interface Node {
  type: string;
  start: number;
  end: number;
  [key: string]: unknown;
}

export function textsIn(source: string, isSvelte: boolean): SeenText[] {
  const found: SeenText[] = [];
  const lineAt = createLineCounter(source);
  const see: See = (node, kind, text) => {
    const shown = text.replace(/\s+/g, " ").trim();
    if (isText(shown, kind)) found.push({ line: lineAt(node.start), kind, text: shown });
  };
  walk(rootOf(source, isSvelte), "text", { source, see });
  return found.toSorted((one, other) => one.line - other.line);
}

function rootOf(source: string, isSvelte: boolean): Node {
  if (!isSvelte) return parseAst(source, { lang: "ts" }) as unknown as Node;
  const { instance, module, fragment } = parse(source, { modern: true });
  // Styles hold no text.
  return { type: "Root", start: 0, end: source.length, scripts: [module, instance], fragment };
}

type See = (node: Node, kind: TextKind, text: string) => void;

interface Walking {
  source: string;
  see: See;
}

const logMethods = new Set(["trace", "debug", "info", "warn", "error", "fatal"]);
const outputMethods = new Set(["line", "note", "write", "ask", "confirm", "choose"]);
const helpKeys = new Set(["summary", "about", "help", "usage", "description", "value", "examples"]);
/** Attributes of elements that are shown or read aloud. */
const labelAttributes = /^(title|label|placeholder|alt|text|hint|aria-(label|description|placeholder))$/;

function walk(node: Node, kind: TextKind, walking: Walking): void {
  const { see, source } = walking;
  switch (node.type) {
    case "Literal":
      if (typeof node.value === "string") see(node, kind, node.value);
      return;
    case "TemplateLiteral":
      see(node, kind, templateText(node, source));
      // A text within the braces of another is listed by itself.
      for (const child of node.expressions as Node[]) walk(child, kind, walking);
      return;
    case "Text":
      see(node, "label", String(node.data));
      return;
    case "Attribute":
      if (labelAttributes.test(String(node.name)) || isComponentText(node)) walkAll(node, "label", walking);
      else if (!Array.isArray(node.value)) walkAll(node, kind, walking);
      return;
    default:
      if (!isSilent(node)) walkAll(node, kindWithin(node, kind), walking);
  }
}

function walkAll(node: Node, kind: TextKind, walking: Walking): void {
  for (const [key, value] of Object.entries(node)) {
    if (isSilentPart(node, key)) continue;
    for (const child of [value].flat()) if (isNode(child)) walk(child, kind, walking);
  }
}

/** Imports, types, keys and comparisons: words for the compiler, which nobody is shown. */
const silentTypes = new Set([
  "ImportDeclaration",
  "ExportAllDeclaration",
  "ImportExpression",
  "SwitchCase.test",
  "TSInterfaceDeclaration",
  "TSTypeAliasDeclaration",
  "TSTypeAnnotation",
  "TSTypeParameterInstantiation",
  "TSImportType",
  "Comment",
]);
const comparisons = new Set(["===", "!==", "==", "!=", "in"]);

function isSilent({ type, operator }: Node): boolean {
  return silentTypes.has(type) || (type === "BinaryExpression" && comparisons.has(String(operator)));
}

function isSilentPart({ type, computed }: Node, key: string): boolean {
  if (key === "typeAnnotation" || key === "typeArguments" || key === "typeParameters") return true;
  if ((type === "Property" || type === "PropertyDefinition") && key === "key") return true;
  if (type === "MemberExpression" && key === "property") return computed === true;
  return silentTypes.has(`${type}.${key}`) || (key === "source" && type.startsWith("Export"));
}

/** What the texts below a node are, as far as the node tells. */
function kindWithin(node: Node, kind: TextKind): TextKind {
  if (node.type === "NewExpression") return isErrorName(nameOf(node.callee)) ? "error" : kind;
  if (node.type === "CallExpression") return kindOfCall(node.callee, kind);
  if (node.type === "Property" && helpKeys.has(nameOf(node.key)) && kind === "text") return "help";
  return kind;
}

function kindOfCall(callee: unknown, kind: TextKind): TextKind {
  if (!isNode(callee)) return kind;
  if (callee.type !== "MemberExpression") return isErrorName(nameOf(callee)) ? "error" : kind;
  const [object, method] = [nameOf(callee.object), nameOf(callee.property)];
  if (/^#?log(ger)?$/.test(object) && logMethods.has(method)) return "log";
  if (/^#?(output|out|stdout|stderr|screen)$/.test(object) && outputMethods.has(method)) return "output";
  return kind;
}

function isErrorName(name: string): boolean {
  return /(Error|Failure)$/.test(name) || name === "misuse" || name === "refuse";
}

/** Components are given texts by properties of any name. */
function isComponentText({ value }: Node): boolean {
  const parts = [value].flat().filter(isNode);
  return parts.some(({ type, data }) => type === "Text" && /\p{Lu}\p{L}+ \p{L}/u.test(String(data)));
}

const shownExpressionCharsMax = 30;

function templateText(node: Node, source: string): string {
  const expressions = node.expressions as Node[];
  return (node.quasis as Node[])
    .map(({ value }, i) => {
      const text = (value as { cooked: string }).cooked;
      const expression = expressions[i];
      if (expression === undefined) return text;
      const code = source.slice(expression.start, expression.end);
      return `${text}{${code.length > shownExpressionCharsMax ? "…" : code}}`;
    })
    .join("");
}

const database = /^(SELECT|INSERT|UPDATE|DELETE|CREATE|DROP|ALTER|PRAGMA|BEGIN|WITH|VACUUM|ATTACH|REINDEX)\b/;
const twoWords = /\p{L}[\p{L}'’]*[,;:]? [\p{L}'’{(“"]/u;

/** Words in a row; where the place says that people read it, one is enough. */
function isText(text: string, kind: TextKind): boolean {
  if (database.test(text) || !/\p{L}{2}/u.test(text.replace(/\{[^}]*\}/g, ""))) return false;
  if (kind === "label") return true;
  const isSentence = twoWords.test(text.replace(/\{[^}]*\}/g, "{}"));
  // Codes of errors, names of events and headers are one word.
  return isSentence && !/^[\w-]+\/[\w.+-]+;/.test(text);
}

function nameOf(value: unknown): string {
  if (!isNode(value)) return "";
  if (value.type === "MemberExpression") return nameOf(value.property);
  return typeof value.name === "string" ? value.name : typeof value.value === "string" ? value.value : "";
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && "type" in value && typeof value.type === "string";
}

function createLineCounter(source: string): (offset: number) => number {
  const starts = [0];
  for (let at = source.indexOf("\n"); at !== -1; at = source.indexOf("\n", at + 1)) starts.push(at + 1);
  return (offset) => {
    let [low, high] = [0, starts.length];
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if ((starts[middle] as number) <= offset) low = middle;
      else high = middle;
    }
    return low + 1;
  };
}

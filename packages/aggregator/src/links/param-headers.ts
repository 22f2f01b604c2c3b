// `x-mcp-header` in a tool's input schema: arguments that modern clients repeat as `Mcp-Param-…` headers, so that
// whatever stands between can route without reading bodies. Pure.
import { isObject, type JsonObject, numberOf, written } from "@mcpx/protocol";
import { headerValue } from "./header-value.ts";

interface Declaration {
  /** The properties that lead to the argument. */
  path: readonly string[];
  header: string;
}

interface Scan {
  declarations: Declaration[];
  fault: string | undefined;
}

const keyword = "x-mcp-header";
const token = /^[\w!#$%&'*+.^`|~-]+$/;
const types = ["string", "integer", "boolean"];
const depthMax = 64;
/** A memo: a listed schema never changes, and is called by far more often than it is listed. */
const scanned = new WeakMap<JsonObject, Scan>();

/** Where schemas stand that apply only sometimes or somewhere: no declaration is allowed below. */
const conditional = [
  "items", "prefixItems", "contains", "additionalProperties", "unevaluatedProperties", "unevaluatedItems",
  "propertyNames", "oneOf", "anyOf", "allOf", "not", "if", "then", "else",
]; // biome-ignore format: a table
const conditionalMaps = ["patternProperties", "dependentSchemas", "$defs", "definitions"];

/** The headers for a call. A schema whose declarations are faulty has none. */
export function paramHeaders(inputSchema: unknown, args: unknown): Record<string, string> {
  const { declarations, fault } = scan(inputSchema);
  if (fault !== undefined) return {};
  const headers = declarations.flatMap(({ path, header }): [string, string][] => {
    const text = textOf(valueAt(args, path));
    return text === undefined ? [] : [[`Mcp-Param-${header}`, headerValue(text)]];
  });
  return Object.fromEntries(headers);
}

/** The names the schema declares, without their prefix; none where its declarations are faulty. */
export function declaredHeaders(inputSchema: unknown): readonly string[] {
  const { declarations, fault } = scan(inputSchema);
  return fault === undefined ? declarations.map(({ header }) => header) : [];
}

/** Why a modern client has to leave the tool out; undefined where it need not. */
export function paramHeaderFault(inputSchema: unknown): string | undefined {
  return scan(inputSchema).fault;
}

function scan(inputSchema: unknown): Scan {
  if (!isObject(inputSchema)) return { declarations: [], fault: undefined };
  const known = scanned.get(inputSchema);
  if (known) return known;
  const found: Scan = { declarations: [], fault: undefined };
  scanned.set(inputSchema, found);
  visit(inputSchema, [], true, found);
  const names = found.declarations.map(({ header }) => header.toLowerCase());
  if (new Set(names).size < names.length) found.fault ??= "two arguments have the same header";
  return found;
}

function visit(schema: JsonObject, path: readonly string[], isReachable: boolean, found: Scan): void {
  if (found.fault !== undefined) return;
  if (path.length > depthMax) {
    found.fault = "the schema is nested too deeply";
    return;
  }
  if (Object.hasOwn(schema, keyword)) {
    found.fault =
      isReachable && path.length > 0
        ? faultOf(schema)
        : "a header is declared for something that is not always an argument";
    found.declarations.push({ path, header: written(schema[keyword]) });
  }
  for (const [name, child] of entriesOf(schema.properties)) visit(child, [...path, name], isReachable, found);
  for (const key of conditional) {
    for (const child of [schema[key]].flat()) if (isObject(child)) visit(child, [...path, key], false, found);
  }
  for (const key of conditionalMaps) {
    for (const [, child] of entriesOf(schema[key])) visit(child, [...path, key], false, found);
  }
}

function faultOf({ [keyword]: header, type }: JsonObject): string | undefined {
  if (typeof header !== "string" || !token.test(header)) return "a header's name is not one HTTP allows";
  return typeof type === "string" && types.includes(type)
    ? undefined
    : "a header is on an argument that is not a string, integer or boolean";
}

function entriesOf(map: unknown): [string, JsonObject][] {
  if (!isObject(map)) return [];
  return Object.entries(map).filter((entry): entry is [string, JsonObject] => isObject(entry[1]));
}

function valueAt(args: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    args,
  );
}

/** Null, absent, and what has no exact text get no header. */
function textOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  const number = numberOf(value);
  if (number === undefined || !Number.isFinite(number)) return undefined;
  return Number.isInteger(number) && !Number.isSafeInteger(number) ? undefined : String(number);
}

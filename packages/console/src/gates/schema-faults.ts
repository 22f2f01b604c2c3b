// What is wrong with arguments, by the JSON Schema of their tool, in words for the person who has typed them. The tool
// itself judges in the end: what is checked here is what people get wrong. Patterns are not tried, since a stranger's
// expression could stop the page. Bounded, pure.
import { isObject, type JsonObject } from "@mcpx/protocol";
import { isRaw } from "../ui/short-json.ts";

export interface SchemaFault {
  /** Where: the names from the top, joined by slashes; empty for the whole. */
  readonly path: string;
  readonly text: string;
}

const faultsMax = 20;
const visitsMax = 20_000;
const depthMax = 40;

interface Search {
  readonly root: unknown;
  readonly faults: SchemaFault[];
  /** Members that were there before anybody edited: nobody's slip of the finger. */
  readonly known: ReadonlySet<string>;
  left: number;
}

/** `before`: as a stranger has proposed them; names that came with them are not called unknown. */
export function schemaFaults(schema: unknown, args: JsonObject, before: JsonObject = {}): SchemaFault[] {
  const search = { root: schema, faults: [], known: new Set(Object.keys(before)), left: visitsMax };
  look(search, schema, args, "", 0);
  return search.faults;
}

function look(search: Search, given: unknown, value: unknown, path: string, depth: number): void {
  search.left -= 1;
  if (search.left < 0 || search.faults.length >= faultsMax || depth > depthMax) return;
  const schema = resolve(search.root, given);
  if (schema === undefined) return;
  const say = (text: string) => search.faults.push({ path, text });
  const wrongType = typeFault(schema.type, value);
  if (wrongType !== undefined) {
    say(wrongType);
    return;
  }
  for (const text of valueFaults(schema, value)) say(text);
  for (const one of list(schema.allOf)) look(search, one, value, path, depth + 1);
  for (const choices of [list(schema.anyOf), list(schema.oneOf)]) {
    if (choices.length > 0 && !choices.some((one) => fits(search, one, value, depth + 1)))
      say(`must have one of the ${choices.length} forms that the tool allows`);
  }
  if (Array.isArray(value) && !Array.isArray(schema.items)) {
    for (const [i, item] of value.entries())
      look(search, schema.items, item, join(path, String(i)), depth + 1);
  }
  if (isObject(value) && !isRaw(value)) lookAtMembers(search, schema, value, path, depth);
}

function lookAtMembers(
  search: Search,
  schema: JsonObject,
  value: JsonObject,
  path: string,
  depth: number,
): void {
  const properties = isObject(schema.properties) ? schema.properties : {};
  for (const name of list(schema.required)) {
    if (typeof name === "string" && !Object.hasOwn(value, name))
      search.faults.push({ path: join(path, name), text: "is required" });
  }
  for (const [name, member] of Object.entries(value)) {
    if (Object.hasOwn(properties, name)) {
      look(search, properties[name], member, join(path, name), depth + 1);
    } else if (isObject(schema.additionalProperties)) {
      look(search, schema.additionalProperties, member, join(path, name), depth + 1);
    } else if (isClosed(schema) && !(path === "" && search.known.has(name))) {
      search.faults.push({ path: join(path, name), text: unknownText(name, Object.keys(properties)) });
    }
  }
}

/** A name that the schema does not have is a slip, unless the schema says that others may come. */
function isClosed(schema: JsonObject): boolean {
  if (schema.additionalProperties === false) return true;
  if (schema.additionalProperties === true || !isObject(schema.properties)) return false;
  return ["patternProperties", "allOf", "anyOf", "oneOf", "$ref", "if"].every((word) => !(word in schema));
}

function unknownText(name: string, names: readonly string[]): string {
  const near = names.slice(0, 200).find((one) => distance(one.slice(0, 64), name.slice(0, 64)) <= 2);
  const hint = near === undefined ? "" : `; did you mean ${near}?`;
  return `is not an argument of this tool${hint}`;
}

function fits(search: Search, schema: unknown, value: unknown, depth: number): boolean {
  const inner: Search = { ...search, faults: [], left: search.left };
  look(inner, schema, value, "", depth);
  search.left = inner.left;
  return inner.faults.length === 0;
}

/** What stands behind a reference within the schema; what cannot be found says nothing. */
function resolve(root: unknown, given: unknown): JsonObject | undefined {
  let schema = given;
  for (let step = 0; step < depthMax && isObject(schema) && typeof schema.$ref === "string"; step += 1) {
    if (!schema.$ref.startsWith("#")) return undefined;
    let at: unknown = root;
    for (const part of schema.$ref.split("/").slice(1, depthMax)) {
      const key = part.replaceAll("~1", "/").replaceAll("~0", "~");
      at = isObject(at) && Object.hasOwn(at, key) ? at[key] : undefined;
    }
    schema = at;
  }
  return isObject(schema) && typeof schema.$ref !== "string" ? schema : undefined;
}

const articles: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  object: "an object",
  array: "a list",
  null: "null",
};

function typeFault(type: unknown, value: unknown): string | undefined {
  const types = (Array.isArray(type) ? type : [type]).filter((one) => typeof one === "string");
  if (types.length === 0 || types.some((one) => isOfType(one, value))) return undefined;
  return `must be ${types.map((one) => articles[one] ?? one).join(" or ")}, not ${nameOf(value)}`;
}

function isOfType(type: string, value: unknown): boolean {
  const number = numberOf(value);
  if (type === "number") return number !== undefined;
  if (type === "integer") return number !== undefined && Number.isInteger(number);
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isObject(value) && number === undefined;
  if (type === "null") return value === null;
  // A type nobody knows refuses nothing.
  return type === "string" || type === "boolean" ? typeof value === type : true;
}

function nameOf(value: unknown): string {
  const number = numberOf(value);
  if (number !== undefined) return `the number ${number}`;
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return isObject(value) ? "an object" : typeof value === "string" ? "text" : String(value);
}

/** Also one that has more digits than numbers here. */
function numberOf(value: unknown): number | undefined {
  if (typeof value === "number") return value;
  return isObject(value) && isRaw(value) ? Number(value.rawJSON) : undefined;
}

function valueFaults(schema: JsonObject, value: unknown): string[] {
  const number = numberOf(value);
  const size =
    typeof value === "string" ? [...value].length : Array.isArray(value) ? value.length : undefined;
  const unit = typeof value === "string" ? "characters" : "entries";
  const [least, most] =
    typeof value === "string" ? [schema.minLength, schema.maxLength] : [schema.minItems, schema.maxItems];
  const under = (bound: unknown) => number !== undefined && typeof bound === "number" && number < bound;
  const over = (bound: unknown) => number !== undefined && typeof bound === "number" && number > bound;
  return [
    isAmong(schema, value) ? "" : `must be one of ${choicesText(schema)}`,
    under(schema.minimum) ? `must be at least ${schema.minimum}` : "",
    over(schema.maximum) ? `must be at most ${schema.maximum}` : "",
    under(schema.exclusiveMinimum) || (number === schema.exclusiveMinimum && number !== undefined)
      ? `must be more than ${schema.exclusiveMinimum}`
      : "",
    over(schema.exclusiveMaximum) || (number === schema.exclusiveMaximum && number !== undefined)
      ? `must be less than ${schema.exclusiveMaximum}`
      : "",
    size !== undefined && typeof least === "number" && size < least
      ? `must have at least ${least} ${unit}`
      : "",
    size !== undefined && typeof most === "number" && size > most ? `must have at most ${most} ${unit}` : "",
  ].filter((text) => text !== "");
}

function choicesOf(schema: JsonObject): readonly unknown[] | undefined {
  if ("const" in schema) return [schema.const];
  return Array.isArray(schema.enum) ? schema.enum : undefined;
}

function isAmong(schema: JsonObject, value: unknown): boolean {
  const choices = choicesOf(schema);
  const text = JSON.stringify(numberOf(value) ?? value);
  return choices === undefined || choices.some((one) => JSON.stringify(numberOf(one) ?? one) === text);
}

function choicesText(schema: JsonObject): string {
  const choices = choicesOf(schema) ?? [];
  const shown = choices.slice(0, 10).map((one) => JSON.stringify(one).slice(0, 60));
  return `${shown.join(", ")}${choices.length > shown.length ? ", …" : ""}`;
}

function list(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value.slice(0, 200) : [];
}

function join(path: string, name: string): string {
  return path === "" ? name : `${path}/${name}`;
}

/** So many letters would have to be changed, added or left out. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1];
    for (const [j, other] of [...b].entries()) {
      const swap = (row[j] ?? 0) + (letter === other ? 0 : 1);
      next.push(Math.min(swap, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

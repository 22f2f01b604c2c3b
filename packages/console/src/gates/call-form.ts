// A form made from a tool's schema: one field for each argument, and arguments made from what was filled in. Pure.
import { isObject, type JsonObject, parseExact } from "@mcpx/protocol";

export interface Field {
  name: string;
  type: "text" | "number" | "boolean" | "choice" | "json";
  isRequired: boolean;
  description: string;
  choices: readonly string[];
  /** As it would be typed. */
  initial: string;
}

const fieldsMax = 100;
const choicesMax = 200;

export function fieldsOf(schema: unknown): Field[] {
  if (!isObject(schema) || !isObject(schema.properties)) return [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  return Object.entries(schema.properties)
    .slice(0, fieldsMax)
    .map(([name, given]) => {
      const property = isObject(given) ? given : {};
      const choices = choicesOf(property);
      return {
        name,
        type: typeOf(property, choices),
        isRequired: required.includes(name),
        description: typeof property.description === "string" ? property.description : "",
        choices,
        initial: property.default === undefined ? "" : textOf(property.default),
      };
    });
}

function choicesOf({ enum: values }: JsonObject): string[] {
  return Array.isArray(values) && values.every((one) => typeof one === "string")
    ? values.slice(0, choicesMax).map(String)
    : [];
}

function typeOf({ type }: JsonObject, choices: readonly string[]): Field["type"] {
  if (choices.length > 0) return "choice";
  if (type === "string") return "text";
  if (type === "number" || type === "integer") return "number";
  return type === "boolean" ? "boolean" : "json";
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

export interface Filled {
  args: JsonObject;
  /** By field: what is wrong with it. */
  faults: Readonly<Record<string, string>>;
}

/** `base`: what is edited, for a call that somebody else has proposed; its other members stay, and no default comes in. */
export function argumentsOf(
  fields: readonly Field[],
  typed: Readonly<Record<string, string>>,
  base?: JsonObject,
): Filled {
  const args: JsonObject = { ...base };
  const faults: Record<string, string> = {};
  for (const field of fields) {
    const { name, isRequired, type } = field;
    if (base !== undefined && typed[name] === undefined) continue;
    const text = typed[name] ?? field.initial;
    if (text === "" && !(type === "text" && isRequired && typed[name] !== undefined)) {
      if (isRequired) faults[name] = "is required";
      delete args[name];
      continue;
    }
    const read = readField(type, text);
    if ("fault" in read) faults[name] = read.fault;
    else args[name] = read.value;
  }
  return { args, faults };
}

/** A field as it stands: what was typed, else what is edited, else the schema's default. */
export function fieldText(
  { name, type, initial }: Field,
  typed: Readonly<Record<string, string>>,
  base?: JsonObject,
): string {
  const known = typed[name];
  if (known !== undefined) return known;
  if (base === undefined) return initial;
  const value = base[name];
  if (value === undefined) return "";
  return typeof value === "string" && type !== "json" ? value : JSON.stringify(value);
}

function readField(type: Field["type"], text: string): { value: unknown } | { fault: string } {
  if (type === "text" || type === "choice") return { value: text };
  if (type === "number" && !/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text.trim())) {
    return { fault: "must be a number" };
  }
  try {
    return { value: parseExact(text) };
  } catch {
    return { fault: "must be JSON" };
  }
}

/** Arguments as they are edited: an object, or why it is none. */
export function readEdited(text: string): { value: JsonObject } | { fault: string } {
  try {
    const value = parseExact(text);
    return isObject(value) ? { value } : { fault: "The arguments must be an object" };
  } catch (error) {
    return { fault: `This is not JSON: ${(error as Error).message}` };
  }
}

// Judges arguments by a small part of JSON Schema, without patterns, references or formats: nothing in it takes long.
// What it does not understand it refuses. Stricter than the standard in one point: a word about numbers, texts, lists
// or objects wants such a value, so a limit on a number is not dodged by a text. Pure. [AC-7-4]
import { canonicalJson } from "../canonical-json.ts";
import { isObject, type JsonObject } from "../json-rpc.ts";

const depthMax = 16;

/** Why the value is refused; `undefined` where it is not. */
export function refusalOf(schema: unknown, value: unknown): string | undefined {
  return judge(schema, value, "arguments", 0);
}

/** What in a schema is not understood; `undefined` where all of it is. */
export function strangenessOf(schema: unknown, depth = 0): string | undefined {
  if (typeof schema === "boolean") return undefined;
  if (!isObject(schema)) return "a schema that is no object";
  if (depth > depthMax) return `more than ${depthMax} levels`;
  for (const [word, wanted] of Object.entries(schema)) {
    if (annotations.includes(word)) continue;
    const rule = Object.hasOwn(rules, word) ? rules[word] : undefined;
    if (rule === undefined) return `the word ${word.slice(0, 64)}`;
    if (!rule.isWellMade(wanted)) return `what ${word} wants`;
    for (const inner of rule.schemas?.(wanted) ?? []) {
      const strange = strangenessOf(inner, depth + 1);
      if (strange !== undefined) return strange;
    }
  }
  return undefined;
}

const annotations = ["$schema", "$id", "$comment", "title", "description", "default", "examples"];

interface Rule {
  isWellMade(wanted: unknown): boolean;
  /** The schemas inside what it wants. */
  schemas?(wanted: unknown): unknown[];
  refuses(value: unknown, wanted: never, at: Place): string | undefined;
}

interface Place {
  path: string;
  depth: number;
  schema: JsonObject;
}

function judge(schema: unknown, value: unknown, path: string, depth: number): string | undefined {
  if (schema === true) return undefined;
  if (schema === false) return `${path} is not allowed`;
  const strange = depth === 0 ? strangenessOf(schema) : undefined;
  if (strange !== undefined) return `${strange} in the schema is not understood`;
  const at = { path, depth, schema: schema as JsonObject };
  for (const [word, wanted] of Object.entries(at.schema)) {
    if (annotations.includes(word)) continue;
    const refusal = rules[word]?.refuses(value, wanted as never, at);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

const isNumber = (value: unknown): value is number => typeof value === "number";
const isCount = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
const isText = (value: unknown): value is string => typeof value === "string";
const isTexts = (value: unknown) => Array.isArray(value) && value.every(isText);
const isSchema = (value: unknown) => typeof value === "boolean" || isObject(value);
const isSchemas = (value: unknown) => Array.isArray(value) && value.length > 0 && value.every(isSchema);

const types: Record<string, (value: unknown) => boolean> = {
  object: isObject,
  array: Array.isArray,
  string: isText,
  number: isNumber,
  integer: Number.isInteger,
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
};
const isType = (value: unknown) => isText(value) && Object.hasOwn(types, value);
const hasType = (value: unknown, type: string) => types[type]?.(value) === true;

/** A word about numbers, texts or lists: `measure` gives what is compared, `undefined` for other values. */
function bound(
  measure: (value: unknown) => number | undefined,
  isWellMade: (wanted: unknown) => boolean,
  holds: (measured: number, wanted: number) => boolean,
  words: string,
): Rule {
  return {
    isWellMade,
    refuses(value, wanted, { path }) {
      const measured = measure(value);
      return measured !== undefined && holds(measured, wanted)
        ? undefined
        : `${path} must ${words} ${wanted}`;
    },
  };
}

const asNumber = (value: unknown) => (isNumber(value) ? value : undefined);
// In characters, as the standard counts.
const textLength = (value: unknown) => (isText(value) ? [...value].length : undefined);
const listLength = (value: unknown) => (Array.isArray(value) ? value.length : undefined);
const atLeast = (a: number, b: number) => a >= b;
const atMost = (a: number, b: number) => a <= b;

const rules: Record<string, Rule> = {
  type: {
    isWellMade: (wanted) => isType(wanted) || (Array.isArray(wanted) && wanted.every(isType)),
    refuses: (value, wanted: string | string[], { path }) =>
      [wanted].flat().some((type) => hasType(value, type)) ? undefined : `${path} must be ${wanted}`,
  },
  enum: {
    isWellMade: Array.isArray,
    refuses: (value, wanted: unknown[], { path }) =>
      wanted.some((one) => isSame(one, value)) ? undefined : `${path} must be one of those listed`,
  },
  const: {
    isWellMade: () => true,
    refuses: (value, wanted: unknown, { path }) => (isSame(wanted, value) ? undefined : `${path} is fixed`),
  },
  minimum: bound(asNumber, isNumber, atLeast, "be at least"),
  maximum: bound(asNumber, isNumber, atMost, "be at most"),
  exclusiveMinimum: bound(asNumber, isNumber, (a, b) => a > b, "be more than"),
  exclusiveMaximum: bound(asNumber, isNumber, (a, b) => a < b, "be less than"),
  minLength: bound(textLength, isCount, atLeast, "be a text of at least"),
  maxLength: bound(textLength, isCount, atMost, "be a text of at most"),
  minItems: bound(listLength, isCount, atLeast, "be a list of at least"),
  maxItems: bound(listLength, isCount, atMost, "be a list of at most"),
  items: {
    isWellMade: isSchema,
    schemas: (wanted) => [wanted],
    refuses(value, wanted: unknown, { path, depth }) {
      if (!Array.isArray(value)) return `${path} must be a list`;
      return firstOf(value.map((item, n) => () => judge(wanted, item, `${path}[${n}]`, depth + 1)));
    },
  },
  required: {
    isWellMade: isTexts,
    refuses(value, wanted: string[], { path }) {
      if (!isObject(value)) return `${path} must be an object`;
      const missing = wanted.find((key) => !Object.hasOwn(value, key));
      return missing === undefined ? undefined : `${path} must have ${missing.slice(0, 64)}`;
    },
  },
  properties: {
    isWellMade: (wanted) => isObject(wanted) && Object.values(wanted).every(isSchema),
    schemas: (wanted) => Object.values(wanted as JsonObject),
    refuses(value, wanted: JsonObject, { path, depth }) {
      if (!isObject(value)) return `${path} must be an object`;
      const present = Object.keys(wanted).filter((key) => Object.hasOwn(value, key));
      return firstOf(present.map((key) => () => judge(wanted[key], value[key], `${path}.${key}`, depth + 1)));
    },
  },
  additionalProperties: {
    isWellMade: isSchema,
    schemas: (wanted) => [wanted],
    refuses(value, wanted: unknown, { path, depth, schema }) {
      if (!isObject(value)) return `${path} must be an object`;
      const named = isObject(schema.properties) ? schema.properties : {};
      const others = Object.keys(value).filter((key) => !Object.hasOwn(named, key));
      return firstOf(
        others.map((key) => () => judge(wanted, value[key], `${path}.${key.slice(0, 64)}`, depth + 1)),
      );
    },
  },
  allOf: {
    isWellMade: isSchemas,
    schemas: (wanted) => wanted as unknown[],
    refuses: (value, wanted: unknown[], { path, depth }) =>
      firstOf(wanted.map((one) => () => judge(one, value, path, depth + 1))),
  },
  anyOf: {
    isWellMade: isSchemas,
    schemas: (wanted) => wanted as unknown[],
    refuses: (value, wanted: unknown[], { path, depth }) =>
      wanted.some((one) => judge(one, value, path, depth + 1) === undefined)
        ? undefined
        : `${path} fits none of what is allowed`,
  },
};

function firstOf(judgements: readonly (() => string | undefined)[]): string | undefined {
  for (const refusal of judgements) {
    const found = refusal();
    if (found !== undefined) return found;
  }
  return undefined;
}

function isSame(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b);
}

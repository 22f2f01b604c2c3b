// Judges arguments by a small part of JSON Schema, without patterns, references or formats: nothing in it takes long.
// What it does not understand it refuses. Stricter than the standard in one point: a word about numbers, texts, lists
// or objects wants such a value, so a limit on a number is not dodged by a text. Pure. [AC-7-4]
import { canonicalJson } from "../json/canonical-json.ts";
import { isObject, type JsonObject } from "../json/json-rpc.ts";

const depthMax = 16;
/** Words of a schema, and entries of what they want. */
const wordsMax = 2_000;
/** Words judged, entries compared and items looked at; each is about a microsecond. */
const stepsMax = 50_000;
/** Characters that are read in a step. */
const charsPerStep = 64;

/** What one judgement may still cost, and the canonical texts it has made so far. */
interface Work {
  steps: number;
  readonly texts: Map<unknown, string>;
}

/** Why the value is refused; `undefined` where it is not. */
export function refusalOf(schema: unknown, value: unknown): string | undefined {
  const work: Work = { steps: stepsMax, texts: new Map() };
  const refusal = judge(schema, value, { path: "arguments", depth: 0, work });
  return work.steps < 0 ? tooLong : refusal;
}

/** What in a schema is not understood; `undefined` where all of it is. */
export function strangenessOf(schema: unknown): string | undefined {
  return strangenessAt(schema, 0, { words: wordsMax });
}

function strangenessAt(schema: unknown, depth: number, left: { words: number }): string | undefined {
  if (typeof schema === "boolean") return undefined;
  if (!isObject(schema)) return "a schema that is not an object";
  if (depth > depthMax) return `more than ${depthMax} levels`;
  for (const [word, wanted] of Object.entries(schema)) {
    left.words -= 1 + entriesOf(wanted);
    if (left.words < 0) return `more than ${wordsMax} words and entries`;
    if (annotations.includes(word)) continue;
    const rule = Object.hasOwn(rules, word) ? rules[word] : undefined;
    if (rule === undefined) return `the word ${word.slice(0, 64)}`;
    if (!rule.isWellMade(wanted)) return `what ${word} wants`;
    for (const inner of rule.schemas?.(wanted) ?? []) {
      const strange = strangenessAt(inner, depth + 1, left);
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
  /** The steps it takes beyond one, without those of the schemas inside. */
  steps?(value: unknown, wanted: unknown): number;
  refuses(value: unknown, wanted: never, at: Place & { schema: JsonObject }): string | undefined;
}

interface Place {
  path: string;
  depth: number;
  work: Work;
}

/** No word turns a no into a yes, so a judgement that has become too long is a no, wherever that happens. */
function judge(schema: unknown, value: unknown, place: Place): string | undefined {
  const { path, depth, work } = place;
  if (isTooMuch(work, 1)) return tooLong;
  if (schema === true) return undefined;
  if (schema === false) return `${path} is not allowed`;
  const strange = depth === 0 ? strangenessOf(schema) : undefined;
  if (strange !== undefined) return `${strange} in the schema is not understood`;
  const at = { ...place, schema: schema as JsonObject };
  for (const [word, wanted] of Object.entries(at.schema)) {
    if (annotations.includes(word)) continue;
    const rule = rules[word];
    if (isTooMuch(work, 1 + (rule?.steps?.(value, wanted) ?? 0))) return tooLong;
    const refusal = rule?.refuses(value, wanted as never, at);
    if (refusal !== undefined) return refusal;
  }
  return undefined;
}

const tooLong = "judging the arguments by the schema takes too long";

function isTooMuch(work: Work, steps: number): boolean {
  work.steps -= steps;
  return work.steps < 0;
}

function entriesOf(value: unknown): number {
  if (Array.isArray(value)) return value.length;
  return isObject(value) ? Object.keys(value).length : 0;
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
    steps: textSteps,
    refuses(value, wanted, { path }) {
      const measured = measure(value);
      return measured !== undefined && holds(measured, wanted)
        ? undefined
        : `${path} must ${words} ${wanted}`;
    },
  };
}

const textSteps = (value: unknown) => (isText(value) ? value.length / charsPerStep : 0);
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
    steps: (_, wanted) => entriesOf(wanted),
    refuses: (value, wanted: unknown[], { path, work }) =>
      wanted.some((one) => isSame(one, value, work)) ? undefined : `${path} must be one of those listed`,
  },
  const: {
    isWellMade: () => true,
    refuses: (value, wanted: unknown, { path, work }) =>
      isSame(wanted, value, work) ? undefined : `${path} is fixed`,
  },
  minimum: bound(asNumber, isNumber, atLeast, "be at least"),
  maximum: bound(asNumber, isNumber, atMost, "be at most"),
  exclusiveMinimum: bound(asNumber, isNumber, (a, b) => a > b, "be more than"),
  exclusiveMaximum: bound(asNumber, isNumber, (a, b) => a < b, "be less than"),
  minLength: bound(textLength, isCount, atLeast, "be a string of at least"),
  maxLength: bound(textLength, isCount, atMost, "be a string of at most"),
  minItems: bound(listLength, isCount, atLeast, "be a list of at least"),
  maxItems: bound(listLength, isCount, atMost, "be a list of at most"),
  items: {
    isWellMade: isSchema,
    schemas: (wanted) => [wanted],
    steps: entriesOf,
    refuses(value, wanted: unknown, at) {
      if (!Array.isArray(value)) return `${at.path} must be a list`;
      return firstOf(value.map((item, n) => () => judge(wanted, item, inside(at, `[${n}]`))));
    },
  },
  required: {
    isWellMade: isTexts,
    steps: (_, wanted) => entriesOf(wanted),
    refuses(value, wanted: string[], { path }) {
      if (!isObject(value)) return `${path} must be an object`;
      const missing = wanted.find((key) => !Object.hasOwn(value, key));
      return missing === undefined ? undefined : `${path} must have ${missing.slice(0, 64)}`;
    },
  },
  properties: {
    isWellMade: (wanted) => isObject(wanted) && Object.values(wanted).every(isSchema),
    schemas: (wanted) => Object.values(wanted as JsonObject),
    steps: (_, wanted) => entriesOf(wanted),
    refuses(value, wanted: JsonObject, at) {
      if (!isObject(value)) return `${at.path} must be an object`;
      const present = Object.keys(wanted).filter((key) => Object.hasOwn(value, key));
      return firstOf(present.map((key) => () => judge(wanted[key], value[key], inside(at, `.${key}`))));
    },
  },
  additionalProperties: {
    isWellMade: isSchema,
    schemas: (wanted) => [wanted],
    steps: entriesOf,
    refuses(value, wanted: unknown, at) {
      if (!isObject(value)) return `${at.path} must be an object`;
      const named = isObject(at.schema.properties) ? at.schema.properties : {};
      const others = Object.keys(value).filter((key) => !Object.hasOwn(named, key));
      return firstOf(
        others.map((key) => () => judge(wanted, value[key], inside(at, `.${key.slice(0, 64)}`))),
      );
    },
  },
  allOf: {
    isWellMade: isSchemas,
    schemas: (wanted) => wanted as unknown[],
    steps: (_, wanted) => entriesOf(wanted),
    refuses: (value, wanted: unknown[], at) =>
      firstOf(wanted.map((one) => () => judge(one, value, inside(at, "")))),
  },
  anyOf: {
    isWellMade: isSchemas,
    schemas: (wanted) => wanted as unknown[],
    steps: (_, wanted) => entriesOf(wanted),
    refuses: (value, wanted: unknown[], at) =>
      wanted.some((one) => judge(one, value, inside(at, "")) === undefined)
        ? undefined
        : `${at.path} fits none of what is allowed`,
  },
};

function firstOf(judgements: readonly (() => string | undefined)[]): string | undefined {
  for (const refusal of judgements) {
    const found = refusal();
    if (found !== undefined) return found;
  }
  return undefined;
}

function inside({ path, depth, work }: Place, step: string): Place {
  return { path: `${path}${step}`, depth: depth + 1, work };
}

function isSame(a: unknown, b: unknown, work: Work): boolean {
  return canonicalOnce(a, work) === canonicalOnce(b, work);
}

/** The value of a call stays the same for every word and entry: its text is made once. */
function canonicalOnce(value: unknown, work: Work): string {
  const known = work.texts.get(value);
  if (known !== undefined) return known;
  const text = canonicalJson(value);
  work.texts.set(value, text);
  work.steps -= text.length / charsPerStep;
  return text;
}

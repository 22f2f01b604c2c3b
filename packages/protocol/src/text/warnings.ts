// What people are told of a text they judge by: a tool's definition, or the arguments of a call. Pure.
import { isObject, type JsonObject } from "../json/json-rpc.ts";
import { hiddenIn, hiddenText, isSmuggling, spelledOut } from "./hidden.ts";
import { mixedWords, suspicionOf } from "./look-alike.ts";

const textsMax = 10_000;
const warningsMax = 10;
const pathCharsMax = 100;
/** Names are compared letter by letter; these are what people and models read as names. */
const nameKeys = new Set(["name", "title"]);

interface Found {
  path: string;
  text: string;
}

/** One sentence for each text of a tool, prompt or server that hides or imitates something. */
export function definitionWarnings(definition: JsonObject): string[] {
  const warnings: string[] = [];
  for (const { path, text } of textsOf(definition)) {
    const hidden = hiddenIn(text);
    const words = mixedWords(text);
    const suspicion = hidden.length === 0 && nameKeys.has(path) ? suspicionOf(text) : undefined;
    if (hidden.length > 0) warnings.push(`${path} contains ${hiddenText(hidden)}`);
    if (suspicion !== undefined) warnings.push(`${path}: ${lowerFirst(suspicion)}`);
    else if (words.length > 0) {
      warnings.push(
        `${path}: letters of another alphabet look like Latin ones in ${words.map(spelledOut).join(", ")}`,
      );
    }
    if (warnings.length >= warningsMax) break;
  }
  return warnings;
}

/** Whether a definition says something to a model that no person sees, or shows people something else than it says. */
export function isDefinitionSmuggling(definition: JsonObject): boolean {
  for (const { text } of textsOf(definition)) if (isSmuggling(text)) return true;
  return false;
}

/** The same for what is approved: `what` is its name in the sentence. */
export function valueWarnings(value: unknown, what: string): string[] {
  const text = JSON.stringify(value) ?? "";
  const hidden = hiddenText(hiddenIn(text));
  return hidden === undefined ? [] : [`${what} contain ${hidden}`];
}

/** Every text in it, keys among them, with the path to it. Not by recursion: a stranger chose the depth. */
function* textsOf(definition: JsonObject): Generator<Found> {
  const open: [path: string, value: unknown][] = [["", definition]];
  let count = 0;
  for (let next = open.pop(); next !== undefined && count < textsMax; next = open.pop()) {
    const [path, value] = next;
    count += 1;
    if (typeof value === "string") yield { path: path || "text", text: value };
    else if (Array.isArray(value)) {
      for (const [i, item] of [...value.entries()].reverse()) open.push([`${path}[${i}]`, item]);
    } else if (isObject(value)) {
      for (const [key, item] of Object.entries(value).reverse()) {
        open.push([inner(path, key), item]);
        // A name that hides something is a text of its own.
        if (!/^[ -~]*$/.test(key)) open.push([`a name in ${path || "it"}`, key]);
      }
    }
  }
}

function inner(path: string, key: string): string {
  return `${path === "" ? "" : `${path}.`}${spelledOut(key)}`.slice(0, pathCharsMax);
}

function lowerFirst(text: string): string {
  return `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;
}

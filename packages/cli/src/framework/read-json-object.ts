// JSON objects given on a command line.
import { isObject, type JsonObject } from "@mcpx/protocol";
import { misuse } from "./failure.ts";
import { cut } from "./visible.ts";

export function readJsonObject(text: string, name: string): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (isObject(value)) return value;
  throw misuse(`${name} ${cut(text, 80)} is not a JSON object`, `write for example '{"message": "hi"}'`);
}

/** The JSON object a text begins with, and what follows it. */
export function splitJsonObject(text: string): { value: JsonObject; rest: string } | undefined {
  for (let end = text.indexOf("}"); end !== -1; end = text.indexOf("}", end + 1)) {
    try {
      const value: unknown = JSON.parse(text.slice(0, end + 1));
      if (isObject(value)) return { value, rest: text.slice(end + 1).trim() };
    } catch {
      // The JSON is not complete yet.
    }
  }
  return undefined;
}

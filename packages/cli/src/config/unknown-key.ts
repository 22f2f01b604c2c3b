// What is said of a key that a configuration does not know. Pure.
import { suggestion } from "../framework/nearest.ts";

/** What other programs call it: nearer than what is spelt alike. */
const synonyms: Readonly<Record<string, string>> = {
  cmd: "command",
  arguments: "args",
  environment: "env",
  uri: "url",
  endpoint: "url",
};

/** `later`: keys that are known but not built yet. */
export function unknownKey(key: string, known: readonly string[], later: readonly string[]): string {
  if (later.includes(key)) return "not supported by this version; remove it";
  const meant = Object.hasOwn(synonyms, key) ? synonyms[key] : undefined;
  if (meant !== undefined && known.includes(meant)) return `unknown key; did you mean ${meant}?`;
  return `unknown key; ${suggestion(key, known) ?? `known here: ${known.join(", ")}`}`;
}

// Secrets that stand inside of a longer text, which is none as a whole. Pure.
import { isSecretName } from "./secret-names.ts";

/** Secrets inside a longer text: a command, an address, a header, JSON as a text. The group is what is secret. */
const insides: readonly RegExp[] = [
  /(?<![A-Za-z0-9])((?:gh[oprsu]_|github_pat_|glpat-|xox[a-z]-|AKIA|ASIA|AIza|npm_|hf_|lin_api_|[rs]k_live_|sk-(?:ant-|proj-)?)[A-Za-z0-9_-]{16,256})/g,
  /(?<![A-Za-z0-9])(eyJ[A-Za-z0-9_-]{10,2048}\.[A-Za-z0-9_.-]{10,4096})/g,
  /(-----BEGIN [A-Z ]{0,32}PRIVATE KEY[\s\S]{0,4096})/g,
  /\b[Bb]earer\s{1,4}([A-Za-z0-9._~+/=-]{12,4096})/g,
  /\b[Aa]uthorization["']?\s{0,4}[:=]\s{0,4}["']?(?:[A-Za-z]{1,16}\s{1,4})?([^\s"',;]{4,4096})/g,
  /:\/\/[^\s/:@"']{0,128}:([^\s/@"']{1,256})@/g,
];
/** `password=…`, `--token …`, `"apiKey": "…"`: it depends on the name. What follows is looked at on its own. */
const named = [
  /(?<![A-Za-z0-9_-])(-{0,2}[A-Za-z][A-Za-z0-9_.-]{1,63})["']?\s{0,4}[=:]\s{0,4}["']?/g,
  /(?<![A-Za-z0-9_-])(--?[A-Za-z][A-Za-z0-9_.-]{1,63})\s{1,4}["']?/g,
];
const valueAt = /[^\s"'&,;}]{3,4096}/y;
const insideCharsMax = 65_536;

/** The secrets that stand inside of a text that is none as a whole; of a very long one in its first part only. */
export function secretsInside(text: string): string[] {
  const part = text.slice(0, insideCharsMax);
  const found = insides.flatMap((pattern) => [...part.matchAll(pattern)].map((match) => match[1] ?? ""));
  for (const match of named.flatMap((pattern) => [...part.matchAll(pattern)])) {
    const [whole, name = ""] = match;
    if (!isSecretName(name)) continue;
    valueAt.lastIndex = match.index + whole.length;
    const value = valueAt.exec(part)?.[0] ?? "";
    if (!isScheme(value)) found.push(value);
  }
  // The longest first, so that none is left in part.
  return [...new Set(found.filter((one) => one !== ""))].sort((one, other) => other.length - one.length);
}

/** What stands before the secret in a header. */
function isScheme(word: string): boolean {
  return /^(?:bearer|basic|digest|token)$/i.test(word);
}

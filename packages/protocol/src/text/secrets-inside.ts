// Secrets that stand inside of a longer text, which is none as a whole: a command, an address, a header, JSON as a text.
// Word by word, so that no text takes long. Pure.
import { isSecretName } from "./secret-names.ts";

const insideCharsMax = 65_536;
const keyCharsMin = 16;
const beginnings = [
  ...["ghp_", "gho_", "ghr_", "ghs_", "ghu_", "github_pat_", "glpat-", "AKIA", "ASIA", "AIza", "npm_", "hf_"],
  ...["lin_api_", "sk_live_", "rk_live_", "sk-", "xoxb-", "xoxp-", "xoxa-", "xoxr-", "eyJ"],
];
const privateKey = "-----BEGIN ";

/** The secrets that stand inside of a text that is none as a whole; of a very long one in its first part only. */
export function secretsInside(text: string): string[] {
  const part = text.slice(0, insideCharsMax);
  const words = part.split(/[\s"'`,;&?{}()]/).filter((word) => word !== "");
  const found = words.flatMap((word, at) => secretsIn(word, words[at - 1] ?? "", words[at - 2] ?? ""));
  const pem = part.indexOf(privateKey);
  if (pem !== -1 && part.slice(pem, pem + 64).includes("PRIVATE KEY")) found.push(part.slice(pem));
  // The longest first, so that none is left in part.
  return [...new Set(found.filter((one) => one.length >= 3))].sort((one, other) => other.length - one.length);
}

function secretsIn(word: string, before: string, beforeThat: string): string[] {
  const found = [...insideAddress(word)];
  if (isKey(word) || (/^bearer$/i.test(before) && word.length >= 12)) found.push(word);
  const cut = word.search(/[=:]/);
  const value = cut === -1 ? "" : word.slice(cut + 1);
  if (value !== "" && isSecretName(word.slice(0, cut)) && !isScheme(value)) found.push(value);
  if (isAnnounced(before, beforeThat) && !isScheme(word) && cut !== 0) found.push(word);
  return found;
}

/** `--token x`, `token= x`, `token: x`, `"token" : "x"` */
function isAnnounced(before: string, beforeThat: string): boolean {
  if (before === ":" || before === "=") return isSecretName(beforeThat);
  return isSecretName(before) && (before.startsWith("--") || before.endsWith(":") || before.endsWith("="));
}

function isKey(word: string): boolean {
  return (
    word.length >= keyCharsMin && beginnings.some((start) => word.startsWith(start)) && /[0-9]/.test(word)
  );
}

/** `https://me:secret@host`, `https://ghp_…@host` */
function insideAddress(word: string): string[] {
  const start = word.indexOf("://");
  const end = start === -1 ? -1 : word.indexOf("@", start);
  if (end === -1) return [];
  const user = word.slice(start + 3, end);
  if (user.includes("/")) return [];
  const colon = user.indexOf(":");
  return colon === -1 ? [user].filter(isKey) : [user.slice(colon + 1)];
}

/** What stands before the secret in a header. */
function isScheme(word: string): boolean {
  return /^(?:bearer|basic|digest|token)$/i.test(word);
}

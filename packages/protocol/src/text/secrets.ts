// Which values of a call's arguments look like secrets, by the tool's schema, by name and by shape; and the same value
// without them. One place for every card, line and log. Pure.
import { isObject } from "../json/json-rpc.ts";

export const secretMask = "•••";

/** The last word of a name, or the last two, say that it is a secret; `max_tokens` and `author` do not. */
const lastWords = new Set([
  ...["password", "passwd", "passphrase", "passcode", "pwd", "pass", "secret", "secrets", "token", "apikey"],
  ...["credential", "credentials", "authorization", "cookie", "bearer", "jwt", "otp", "pat", "dsn"],
]);
const lastPairs = new Set([
  ...["api key", "access key", "private key", "secret key", "signing key", "encryption key", "auth key"],
  ...["connection string", "set cookie", "pin code", "security code", "card number"],
]);
const marks =
  /^(?:sk-|pk_|rk_|sk_live_|gh[oprsu]_|github_pat_|glpat-|xox[a-z]-|AKIA|ASIA|AIza|ya29\.|eyJ[A-Za-z0-9_-]{10}|npm_|hf_|lin_api_|-----BEGIN [A-Z ]*PRIVATE KEY)/;

export function isSecretName(name: string): boolean {
  const words = name
    .slice(-128)
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== "");
  return lastWords.has(words.at(-1) ?? "") || lastPairs.has(words.slice(-2).join(" "));
}

/** By its beginning, or because it is a long run of letters and digits that no person has typed. A path is none. */
export function isSecretText(text: string): boolean {
  if (marks.test(text)) return true;
  const isRun = /^[A-Za-z0-9_+/=.-]{32,4096}$/.test(text) && /[0-9]/.test(text) && /[A-Za-z]/.test(text);
  return isRun && !/^[./]/.test(text) && text.split("/").length <= 2 && !isDigest(text);
}

/** Digests and ids are long, and no secrets. */
function isDigest(text: string): boolean {
  return /^(?:[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i.test(
    text,
  );
}

/** A member of arguments: `name` is the nearest one above it. */
export function isSecretValue(name: string, value: unknown): boolean {
  if (typeof value === "number") return isSecretName(name);
  return typeof value === "string" && value !== "" && (isSecretName(name) || isSecretText(value));
}

const marksMax = 100;
const depthMax = 16;

/** Where a tool's schema says that a value is secret: `/user/password`, `/keys/*`. */
export function secretPlaces(schema: unknown): string[] {
  const found: string[] = [];
  const look = (node: unknown, path: string, depth: number): void => {
    if (!isObject(node) || depth > depthMax || found.length >= marksMax) return;
    if (node.writeOnly === true || node.format === "password") {
      found.push(path);
      return;
    }
    const { properties, items, additionalProperties } = node;
    if (isObject(properties)) {
      for (const [key, inner] of Object.entries(properties))
        look(inner, placeOf(path, key, false), depth + 1);
    }
    for (const inner of [items, additionalProperties]) look(inner, `${path}/*`, depth + 1);
    for (const key of ["anyOf", "oneOf", "allOf"]) {
      const ways = node[key];
      if (Array.isArray(ways)) for (const way of ways) look(way, path, depth + 1);
    }
  };
  look(schema, "", 0);
  return [...new Set(found)];
}

/** Of a member of an object, or an item of a list. */
export function placeOf(path: string, key: string, isItem: boolean): string {
  return `${path}/${isItem ? "*" : key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

export function isSecretPlace(path: string, places: readonly string[]): boolean {
  return places.some((place) => {
    const wanted = place.split("/");
    const given = path.split("/");
    return (
      given.length >= wanted.length && wanted.every((part, index) => part === "*" || part === given[index])
    );
  });
}

/** The value without its secrets. What JSON.parse does not make, numbers to the last digit, stays as it is. */
export function maskSecrets(value: unknown, places: readonly string[] = []): unknown {
  return walk(value, { places, name: "", path: "", hide: () => secretMask });
}

/** Every secret in it, as a text. */
export function secretTexts(value: unknown, places: readonly string[] = [], name = ""): string[] {
  const found: string[] = [];
  walk(value, {
    ...{ places, name, path: "" },
    hide(secret) {
      found.push(String(secret));
      return secret;
    },
  });
  return found;
}

interface Walk {
  places: readonly string[];
  name: string;
  path: string;
  hide(secret: string | number): unknown;
}

function walk(value: unknown, at: Walk): unknown {
  const { places, name, path, hide } = at;
  if (typeof value === "string" || typeof value === "number") {
    const isMarked = places.length > 0 && path !== "" && value !== "" && isSecretPlace(path, places);
    return isMarked || isSecretValue(name, value) ? hide(value) : value;
  }
  if (Array.isArray(value)) return value.map((item) => walk(item, { ...at, path: placeOf(path, "", true) }));
  if (!isObject(value) || isExactNumber(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      walk(inner, { ...at, name: key, path: placeOf(path, key, false) }),
    ]),
  );
}

function isExactNumber(value: object): boolean {
  return (JSON as unknown as { isRawJSON?(value: unknown): boolean }).isRawJSON?.(value) === true;
}

/** A difference between two calls, without the secrets in it: its texts are JSON, or the beginning of it. */
export function maskChange<T extends { path: string; old?: string | undefined; new?: string | undefined }>(
  change: T,
  places: readonly string[] = [],
): T {
  const name = change.path.slice(change.path.lastIndexOf("/") + 1);
  const place = change.path.replace(/\/\d+(?=\/|$)/g, "/*");
  const masked = (text: string | undefined): string | undefined => {
    if (text === undefined) return undefined;
    if (isSecretPlace(place, places) || isSecretName(name)) return JSON.stringify(secretMask);
    try {
      const value: unknown = JSON.parse(text);
      return isSecretValue(name, value) ? JSON.stringify(secretMask) : maskedText(text, value);
    } catch {
      // Of a long one there is only a part.
      return isSecretText(text.replace(/^"/, "").slice(0, 4_096)) ? JSON.stringify(secretMask) : text;
    }
  };
  return { ...change, old: masked(change.old), new: masked(change.new) };
}

/** Written anew only where something in it is hidden. */
function maskedText(text: string, value: unknown): string {
  return secretTexts(value).length === 0 ? text : JSON.stringify(maskSecrets(value));
}

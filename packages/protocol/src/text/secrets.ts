// Which values of a call's arguments look like secrets, by the tool's schema, by name and by shape; and the same value
// without them. One place for every card, line and log. Pure.
import { isObject } from "../json/json-rpc.ts";
import { isPublicMember } from "./public-values.ts";
import { isSecretName } from "./secret-names.ts";
import { secretsInside } from "./secrets-inside.ts";

export const secretMask = "•••";

const marks =
  /^(?:sk-|pk_|rk_|sk_live_|gh[oprsu]_|github_pat_|glpat-|xox[a-z]-|AKIA|ASIA|AIza|ya29\.|eyJ[A-Za-z0-9_-]{10}|npm_|hf_|lin_api_|-----BEGIN [A-Z ]*PRIVATE KEY)/;

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

/** A text without what is secret in it. */
export function maskText(text: string): string {
  return maskInside(text, () => secretMask);
}

function maskInside(text: string, hide: (secret: string) => unknown): string {
  return secretsInside(text).reduce((rest, secret) => {
    const shown = String(hide(secret));
    return shown === secret ? rest : rest.replaceAll(secret, shown);
  }, text);
}

/** Under which name a member is judged: `--token` says what the next word is, and `name` what `value` is. */
export function nameInside(parent: unknown, key: string | number, above: string): string {
  if (Array.isArray(parent)) {
    const before: unknown = typeof key === "number" ? parent[key - 1] : undefined;
    return typeof before === "string" && /^--?[A-Za-z]/.test(before) && isSecretName(before) ? before : above;
  }
  if (key !== "value" || !isObject(parent)) return String(key);
  const said = [parent.name, parent.key].find((one) => typeof one === "string");
  return typeof said === "string" && isSecretName(said) ? said : "value";
}

/** A member of arguments: `name` is the nearest one above it. */
export function isSecretValue(name: string, value: unknown): boolean {
  if (typeof value === "number") return isSecretName(name);
  return typeof value === "string" && value !== "" && (isSecretName(name) || isSecretText(value));
}

const marksMax = 100;
const depthMax = 16;
/** A schema that refers to itself has no end. */
const looksMax = 2_000;

/** Where a tool's schema says that a value is secret: `/user/password`, `/keys/*`. What it refers to in itself counts. */
export function secretPlaces(schema: unknown): string[] {
  const found: string[] = [];
  let looks = 0;
  const look = (node: unknown, path: string, depth: number): void => {
    if (!isObject(node) || depth > depthMax || found.length >= marksMax || ++looks > looksMax) return;
    if (node.writeOnly === true || node.format === "password") {
      found.push(path);
      return;
    }
    const { properties, items, additionalProperties, patternProperties, prefixItems } = node;
    if (isObject(properties)) {
      for (const [key, inner] of Object.entries(properties))
        look(inner, placeOf(path, key, false), depth + 1);
    }
    const others = [
      ...(isObject(patternProperties) ? Object.values(patternProperties) : []),
      ...listed(prefixItems),
    ];
    for (const inner of [items, additionalProperties, ...others]) look(inner, `${path}/*`, depth + 1);
    const ways = ["anyOf", "oneOf", "allOf"].flatMap((key) => listed(node[key]));
    for (const way of [...ways, node.then, node.else, within(schema, node.$ref)]) look(way, path, depth + 1);
  };
  look(schema, "", 0);
  return [...new Set(found)];
}

function listed(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** What `#/$defs/Login` names in the schema. */
function within(schema: unknown, reference: unknown): unknown {
  if (typeof reference !== "string" || !reference.startsWith("#/")) return undefined;
  const keys = reference.slice(2).split("/");
  return keys.reduce<unknown>((node, key) => {
    const name = key.replaceAll("~1", "/").replaceAll("~0", "~");
    return isObject(node) && Object.hasOwn(node, name) ? node[name] : undefined;
  }, schema);
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
  /** Only the tool's schema can make this value a secret. */
  isPublic?: boolean;
  hide(secret: string | number): unknown;
}

function walk(value: unknown, at: Walk): unknown {
  const { places, name, path, hide } = at;
  if (typeof value === "string" || typeof value === "number") {
    const isMarked = places.length > 0 && path !== "" && value !== "" && isSecretPlace(path, places);
    if (isMarked) return hide(value);
    if (at.isPublic === true) return value;
    if (isSecretValue(name, value)) return hide(value);
    return typeof value === "string" ? maskInside(value, hide) : value;
  }
  if (Array.isArray(value)) {
    return value.map((item, index) =>
      walk(item, {
        ...at,
        name: nameInside(value, index, name),
        path: placeOf(path, "", true),
        isPublic: false,
      }),
    );
  }
  if (!isObject(value)) return value;
  if (isExactNumber(value)) return walkExact(value, at);
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      walk(inner, {
        ...at,
        name: nameInside(value, key, name),
        path: placeOf(path, key, false),
        isPublic: isPublicMember(value, key),
      }),
    ]),
  );
}

/** A number to its last digit: a card's, for example. */
function walkExact(value: { rawJSON?: unknown }, { places, name, path, hide }: Walk): unknown {
  if (!isSecretName(name) && !isSecretPlace(path, places)) return value;
  const digits = String(value.rawJSON);
  const shown = hide(digits);
  return shown === digits ? value : shown;
}

function isExactNumber(value: object): value is { rawJSON?: unknown } {
  return (JSON as unknown as { isRawJSON?(value: unknown): boolean }).isRawJSON?.(value) === true;
}

/** A difference between two calls, without the secrets in it: its texts are JSON, or the beginning of it. */
export function maskChange<T extends { path: string; old?: string | undefined; new?: string | undefined }>(
  change: T,
  places: readonly string[] = [],
): T {
  const name = change.path.slice(change.path.lastIndexOf("/") + 1);
  const place = change.path.replace(/\/\d+(?=\/|$)/g, "/*");
  const inner = placesBelow(place, places);
  const masked = (text: string | undefined): string | undefined => {
    if (text === undefined) return undefined;
    if (isSecretPlace(place, places) || isSecretName(name)) return JSON.stringify(secretMask);
    try {
      const value: unknown = JSON.parse(text);
      return isSecretValue(name, value) ? JSON.stringify(secretMask) : maskedText(text, value, inner);
    } catch {
      // Of a long one there is only a part: where anything in it may be secret, nothing of it is shown.
      const part = text.replace(/^"/, "").slice(0, 4_096);
      const isSecret = isSecretText(part) || secretsInside(part).length > 0 || inner.length > 0;
      return isSecret ? JSON.stringify(secretMask) : text;
    }
  };
  return { ...change, old: masked(change.old), new: masked(change.new) };
}

/** The places below a path, relative to it. */
function placesBelow(path: string, places: readonly string[]): string[] {
  const given = path.split("/");
  return places.flatMap((place) => {
    const wanted = place.split("/");
    const isBelow =
      wanted.length > given.length && given.every((part, at) => wanted[at] === "*" || wanted[at] === part);
    return isBelow ? [`/${wanted.slice(given.length).join("/")}`] : [];
  });
}

/** Written anew only where something in it is hidden. */
function maskedText(text: string, value: unknown, places: readonly string[]): string {
  return secretTexts(value, places).length === 0 ? text : JSON.stringify(maskSecrets(value, places));
}

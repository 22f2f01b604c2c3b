// How names look at a client's door. Policy uses canonical names; clients that refuse dots get a rendering, looked up
// in a map and never parsed back. Pure.
import { fallApart } from "./fall-apart.ts";
import { mark } from "./segment.ts";

/**
 * `canonical`: dotted. `safe`: letters, digits, `_`, `-`, a letter first, at most 64, as most refusing clients want.
 * `strict`: `[a-z0-9_]`, a letter first, at most 48, which leaves clients room for a prefix of their own.
 */
export const dialects = ["canonical", "safe", "strict"] as const;

export type Dialect = (typeof dialects)[number];

export function isDialect(value: unknown): value is Dialect {
  return dialects.includes(value as Dialect);
}

const rules = {
  safe: { fits: /^[A-Za-z][A-Za-z0-9_-]{0,63}$/, foreign: /[^A-Za-z0-9_-]/g, charsMax: 64 },
  strict: { fits: /^[a-z][a-z0-9_]{0,47}$/, foreign: /[^a-z0-9_]/g, charsMax: 48 },
} as const;

/** Every canonical name with its rendering. */
export function renderNames(
  names: Iterable<string>,
  dialect: Exclude<Dialect, "canonical">,
): Map<string, string> {
  const { fits, foreign, charsMax } = rules[dialect];
  const plain = (name: string) => {
    const text = name.replaceAll(".", "__").replace(foreign, "_");
    return /^[A-Za-z]/.test(text) ? text : `t_${text}`;
  };
  const marked = (name: string) => `${plain(name).slice(0, charsMax - 7)}_${mark(name)}`;
  return fallApart(names, {
    keeps: (name) => fits.test(name),
    wish: (name) => (plain(name).length > charsMax ? marked(name) : plain(name)),
    marked,
  });
}

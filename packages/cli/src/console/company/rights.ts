// From what an OpenID provider says of a person to what the person may do here: by rules of the configuration, and
// nothing where none fits. Pure.
import { isObject, type JsonObject, type Level, levels } from "@mcpx/protocol";

export interface RightsRule {
  /** By the name of a claim, dots lead into objects: one of these values must be there. All claims must fit. */
  readonly claims: Readonly<Record<string, readonly string[]>>;
  readonly admin?: boolean | undefined;
  readonly topics?: readonly string[] | undefined;
  readonly tools?: readonly string[] | undefined;
  readonly level?: Level | undefined;
}

export interface Rights {
  readonly admin: boolean;
  readonly topics: readonly string[];
  readonly tools: readonly string[];
  readonly level: Level;
}

export interface Verdict {
  /** Of the rules that fit, together; `undefined` where none does. */
  readonly rights: Rights | undefined;
  /** Which of them fit, from 0. */
  readonly fitting: readonly number[];
}

export function rightsOf(claims: JsonObject, rules: readonly RightsRule[]): Verdict {
  const fitting = rules.flatMap((rule, index) => (fits(claims, rule) ? [index] : []));
  const given = fitting.flatMap((index) => rules[index] ?? []);
  if (given.length === 0) return { rights: undefined, fitting };
  const rights = {
    admin: given.some(({ admin }) => admin === true),
    topics: [...new Set(given.flatMap(({ topics = [] }) => topics))],
    tools: [...new Set(given.flatMap(({ tools = [] }) => tools))],
    level: levels.findLast((one) => given.some(({ level }) => level === one)) ?? "restricted",
  };
  return { rights, fitting };
}

/** A rule without claims fits nobody: it would fit everybody. */
function fits(claims: JsonObject, { claims: wanted }: RightsRule): boolean {
  const entries = Object.entries(wanted);
  return (
    entries.length > 0 &&
    entries.every(([name, value]) => {
      const there = listOf(claimAt(claims, name));
      return value.some((one) => there.includes(one));
    })
  );
}

/** The claim of this very name, which may be an address; else by its dots. */
function claimAt(claims: JsonObject, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split(".")) {
    if (!isObject(value) || !Object.hasOwn(value, part)) return undefined;
    value = value[part];
  }
  return value;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : value === undefined ? [] : [value];
}

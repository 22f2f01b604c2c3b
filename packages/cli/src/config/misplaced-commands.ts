// Where `${cmd:…}` may stand in a configuration. Pure.

/** Keys whose values are secrets, and keys above such values. */
const secretKeys = ["clientSecret", "token", "appToken", "hsToken", "password", "secret"];
const secretGroups = ["env", "headers"];

/** Where `${cmd:…}` stands for something that is none: a program would decide what else is started or reached. */
export function misplacedCommands(value: unknown, path: string[] = []): string[][] {
  if (typeof value === "string") {
    const isSecret = secretKeys.includes(path.at(-1) ?? "") || secretGroups.includes(path.at(-2) ?? "");
    return value.includes("${cmd:") && !isSecret ? [path] : [];
  }
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => misplacedCommands(inner, [...path, key]));
}

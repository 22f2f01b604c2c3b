// What clients fill into their files at run time, as we write it: `${env:NAME}`. Pure.
import type { ClientWorld, VariableStyle } from "./client.ts";
import { joinAt } from "./places.ts";

export interface Filling {
  style: VariableStyle;
  world: ClientWorld;
  /** The folder an editor has open; only known for a project's own servers. */
  project: string | undefined;
}

/** Throws a sentence about what only the client knows. `name`: the variable or header that the text is the value of. */
export function translate(text: string, filling: Filling, name = ""): string {
  const { style, world } = filling;
  const from = (variable: string) => `\${env:${variable}}`;
  switch (style) {
    case "none":
      return text;
    case "braces":
      return replaceBraces(text, withDefault);
    case "shell":
      return replaceBraces(text, (inner) => (isName(inner) ? from(inner) : undefined)).replace(
        /\$([A-Za-z_][A-Za-z0-9_]*)/g,
        (_, variable: string) => from(variable),
      );
    case "editor":
      return replaceBraces(text, fill);
    case "named":
      return replaceBraces(text, named, "{");
  }

  function withDefault(inner: string): string | undefined {
    const at = inner.indexOf(":-");
    const variable = at === -1 ? inner : inner.slice(0, at);
    if (!isName(variable)) return undefined;
    // Ours has no default: it counts where the variable is not set.
    return at === -1 || world.env[variable] !== undefined ? from(variable) : inner.slice(at + 2);
  }

  function named(inner: string): string | undefined {
    if (inner.startsWith("env:") && isName(inner.slice("env:".length)))
      return from(inner.slice("env:".length));
    if (/^(env|file):./s.test(inner)) throw new Error(`uses {${inner}}, which only the client reads`);
    return undefined;
  }

  function fill(inner: string): string {
    const [kind, rest = ""] = inner.split(/:(.*)/s);
    if (kind === "env" && rest !== "") return from(rest);
    if (kind === "input" && rest !== "") return from(isVariable(name) ? name : variableFor(rest));
    if (inner === "userHome") return world.home;
    if (inner === "pathSeparator" || inner === "/") return joinAt(world, "a", "b").slice(1, 2);
    if (filling.project !== undefined && inner === "workspaceFolder") return filling.project;
    if (filling.project !== undefined && inner === "workspaceFolderBasename") {
      return filling.project.split(/[\\/]/).at(-1) ?? "";
    }
    throw new Error(`uses \${${inner}}, which only the editor knows`);
  }
}

/** The names of the variables that a text with `${env:NAME}` needs. */
export function neededBy(text: string): string[] {
  const names = new Set<string>();
  replaceBraces(text, (inner) => {
    if (inner.startsWith("env:")) names.add(inner.slice("env:".length));
    return undefined;
  });
  return [...names];
}

/** Every `${…}` of the text as it is filled; left as it is where it is not. */
function replaceBraces(text: string, fill: (inner: string) => string | undefined, open = "${"): string {
  const [head = "", ...parts] = text.split(open);
  const filled = parts.map((part) => {
    const end = part.indexOf("}");
    const value = end === -1 ? undefined : fill(part.slice(0, end));
    return value === undefined ? open + part : value + part.slice(end + 1);
  });
  return head + filled.join("");
}

function isName(text: string): boolean {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(text);
}

function isVariable(name: string): boolean {
  return /^[A-Z_][A-Z0-9_]*$/.test(name);
}

/** `api-key` → `API_KEY`. */
function variableFor(id: string): string {
  return id.toUpperCase().replace(/[^A-Z0-9]/g, "_");
}

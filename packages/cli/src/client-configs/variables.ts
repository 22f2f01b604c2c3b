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
  if (style === "braces") {
    return text.replace(
      /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}/g,
      (_, variable: string, fallback?: string) => {
        // Ours has no default: it counts where the variable is not set.
        return fallback === undefined || world.env[variable] !== undefined ? from(variable) : fallback;
      },
    );
  }
  if (style === "shell") {
    return text.replace(/\$(?:\{([A-Za-z_][A-Za-z0-9_]*)\}|([A-Za-z_][A-Za-z0-9_]*))/g, (_, braced, bare) =>
      from(braced ?? bare),
    );
  }
  if (style === "editor") return text.replace(/\$\{([^{}]*)\}/g, (_, inner: string) => fill(inner));
  return text;

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

/** The names of variables that a text of ours needs. */
export function neededBy(text: string): string[] {
  return [...new Set([...text.matchAll(/\$\{env:([^}]+)\}/g)].map(([, name]) => name ?? ""))];
}

function isVariable(name: string): boolean {
  return /^[A-Z_][A-Z0-9_]*$/.test(name);
}

/** `api-key` → `API_KEY`. */
function variableFor(id: string): string {
  return id.toUpperCase().replace(/[^A-Z0-9]/g, "_");
}

// Every address of the gateway, read from the sources: what a thief would find there too.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..", "..");
const constant = /const (\w+) = "(\/[\w.:/-]*)"/g;
const literal = /["`]((?:\$\{\w+\})?\/[\w.:/-]*)["`]/g;
/** The console has the operator's addresses once more, for those who are logged in there. */
const consoleApi = "/console/api";

/** Paths as routes write them: a part with a colon is a parameter. */
export function addressesInSources(): string[] {
  const files = globSync("packages/{gateway,aggregator,cli}/src/**/*.ts", { cwd: root })
    .filter((file) => !file.endsWith(".test.ts"))
    .map((file) => readFileSync(join(root, file), "utf8"));
  const everywhere = constantsIn(files.join("\n"));
  const routing = files.filter((text) => /\bRoute\b|onUpgrade/.test(text));
  const found = routing.flatMap((text) => pathsIn(text, { ...everywhere, ...constantsIn(text) }));
  const all = [...found, ...Object.values(everywhere)];
  const again = all.filter((path) => !/^\/(approve|console|mcp|rooms|v0|\.well-known)/.test(path));
  return [...new Set([...all, ...again.map((path) => `${consoleApi}${path}`)])].sort();
}

function constantsIn(text: string): Record<string, string> {
  return Object.fromEntries([...text.matchAll(constant)].map(([, name, value]) => [name, value]));
}

function pathsIn(text: string, constants: Record<string, string>): string[] {
  return [...text.matchAll(literal)]
    .map(([, path = ""]) => path.replace(/^\$\{(\w+)\}/, (_, name: string) => constants[name] ?? ""))
    .filter((path) => path.startsWith("/"));
}

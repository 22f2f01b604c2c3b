// The order of folders in the READMEs of the packages: lower ones never import higher ones.
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { expect, test } from "vitest";

const root = dirname(import.meta.dirname);

interface Import {
  readonly from: string;
  readonly to: string;
}

/** Paths in `src`, without those that are for tests. */
function valueImports(src: string): Import[] {
  const files = globSync("**/*.{ts,svelte}", { cwd: src }).filter((file) => !isForTests(file));
  return files.flatMap((from) => {
    const text = readFileSync(join(src, from), "utf8");
    const statements = text.matchAll(/^\s*(?:import|export)\s+([^;"]*?)\s*from\s+"(\.[^"]+)"/gm);
    return [...statements]
      .filter(([, names = ""]) => !isTypesOnly(names))
      .map(([, , specifier = ""]) => ({ from, to: normalize(join(dirname(from), specifier)) }));
  });
}

function isForTests(file: string): boolean {
  return /(\.test|-?cases)\.ts$|(^|\/)testing\//.test(file);
}

function isTypesOnly(names: string): boolean {
  if (names.startsWith("type ")) return true;
  const listed = names.startsWith("{") ? names.slice(1, -1).split(",") : [];
  return listed.length > 0 && listed.every((name) => name.trim() === "" || name.trim().startsWith("type "));
}

/** As the README lists them, low to high. */
function foldersOf(readme: string): string[] {
  return [...readme.matchAll(/^- `([a-z/-]+)` – /gm)].map(([, folder = ""]) => folder);
}

/** The one it is in, the innermost of those listed; `""` for what stands beside the folders. */
function folderOf(file: string, folders: readonly string[]): string {
  const around = folders.filter((folder) => file.startsWith(`${folder}/`));
  return around.sort((a, b) => b.length - a.length)[0] ?? "";
}

/** What stands beside the folders and imports one of them is above all; else it is below all. */
function upwardImports(imports: readonly Import[], folders: readonly string[]): string[] {
  const above = new Set(
    imports
      .filter(({ from, to }) => folderOf(from, folders) === "" && to.includes("/"))
      .map(({ from }) => from),
  );
  const rank = (file: string) => {
    const folder = folderOf(file, folders);
    if (folder !== "") return folders.indexOf(folder);
    return above.has(file) ? folders.length : -1;
  };
  const isBeside = ({ from, to }: Import) => folderOf(from, folders) === "" && folderOf(to, folders) === "";
  return imports
    .filter((one) => !isBeside(one) && rank(one.to) > rank(one.from))
    .map(({ from, to }) => `${from} → ${to}`);
}

/** A name for another package: it has no folders. */
const isOnlyName = (path: string) => path === "packages/mcpx/README.md";

for (const path of globSync("packages/*/README.md", { cwd: root }).sort()) {
  if (isOnlyName(path)) continue;
  const name = dirname(path);
  test(`the folders of ${name} import only those above them in its README`, () => {
    const src = join(root, name, "src");
    const folders = foldersOf(readFileSync(join(root, path), "utf8"));
    const there = globSync("*/", { cwd: src }).map((folder) => relative(".", folder));
    expect(folders.filter((folder) => !folder.includes("/")).sort()).toEqual(there.sort());
    const imports = valueImports(src);
    expect(imports.length).toBeGreaterThan(10);
    expect(upwardImports(imports, folders)).toEqual([]);
  });
}

test("an import of a higher folder is seen, one of its types is none", () => {
  const folders = ["low", "high", "high/inner"];
  const imports = [
    { from: "low/a.ts", to: "high/b.ts" },
    { from: "high/b.ts", to: "high/inner/c.ts" },
    { from: "low/a.ts", to: "main.ts" },
    { from: "main.ts", to: "low/a.ts" },
    { from: "high/b.ts", to: "low/a.ts" },
    { from: "low/a.ts", to: "clock.ts" },
  ];
  expect(upwardImports(imports, folders)).toEqual([
    "low/a.ts → high/b.ts",
    "high/b.ts → high/inner/c.ts",
    "low/a.ts → main.ts",
  ]);
  expect([isTypesOnly("type A"), isTypesOnly("{ type A, type B }"), isTypesOnly("{ a, type B }")]).toEqual([
    true,
    true,
    false,
  ]);
});

// A copy of the working tree in which code may be broken: sources are copied, installed packages linked, and our own
// packages are those of the copy.
import { cpSync, existsSync, globSync, mkdirSync, mkdtempSync, readdirSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";

const notCopied = ["node_modules", ".git", "coverage"];

export function copyTree(root: string): string {
  const copy = mkdtempSync(join(tmpdir(), "mcpx-mutate-"));
  cpSync(root, copy, { recursive: true, filter: (path) => !notCopied.includes(basename(path)) });
  for (const path of globSync("packages/*/node_modules", { cwd: root })) {
    symlinkSync(join(root, path), join(copy, path));
  }
  linkPackages(join(root, "node_modules"), join(copy, "node_modules"));
  return copy;
}

function linkPackages(from: string, to: string): void {
  mkdirSync(join(to, ".cache"), { recursive: true });
  const linked = readdirSync(from).filter((name) => ![".cache", ".vite", "@mcpx"].includes(name));
  for (const name of linked) symlinkSync(join(from, name), join(to, name));
  const ours = join(from, "@mcpx");
  // npm's links lead to ../../packages: as they are, they lead into the copy.
  if (existsSync(ours)) cpSync(ours, join(to, "@mcpx"), { recursive: true, verbatimSymlinks: true });
}

// A directory that services are installed below: an image with its files of users.
import { spawnSync } from "node:child_process";
import { chmodSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { scratch } from "./mcpx-process.ts";

export const hasTool = (name: string) => spawnSync("sh", ["-c", `command -v ${name}`]).status === 0;

export function image(): string {
  const root = scratch();
  chmodSync(root, 0o755);
  mkdirSync(join(root, "etc"));
  for (const file of ["passwd", "group", "shadow", "gshadow"]) writeFileSync(join(root, "etc", file), "");
  return root;
}

export const filesIn = (root: string) => globSync("**", { cwd: root, exclude: ["etc/*-"] }).sort();

export const textsIn = (root: string) =>
  filesIn(root)
    .filter((path) => statSync(join(root, path)).isFile())
    .map((path) => [path, readFileSync(join(root, path), "utf8")]);

// A directory that services are installed below: an image with its files of users.
import { spawnSync } from "node:child_process";
import { chmodSync, globSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { programFaults } from "../../../packages/cli/src/service/check-program.ts";
import { scratch } from "./mcpx-process.ts";

export const hasTool = (name: string) => spawnSync("sh", ["-c", `command -v ${name}`]).status === 0;

/** As root, and where other users can start the programs of this checkout: below a private directory `install` refuses. */
export const canMakeUsers =
  process.getuid?.() === 0 && programFaults([process.execPath, import.meta.dirname]).length === 0;

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

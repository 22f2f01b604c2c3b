// The texts of all files that people see something of: the packages, without their tests.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type SeenText, textsIn } from "./texts-in.ts";

export interface FileTexts {
  /** From the root of the repository. */
  path: string;
  texts: SeenText[];
}

/** Code that only tests use, and styles, which hold no text. */
const isLeftOut = /\.test\.ts$|-cases\.ts$|\/testing\/|\/style\.ts$|\.d\.ts$/;

export function readTexts(root: string): FileTexts[] {
  return globSync("packages/*/src/**/*.{ts,svelte}", { cwd: root })
    .filter((path) => !isLeftOut.test(path))
    .sort()
    .map((path) => ({
      path,
      texts: textsIn(readFileSync(join(root, path), "utf8"), path.endsWith(".svelte")),
    }))
    .filter(({ texts }) => texts.length > 0);
}

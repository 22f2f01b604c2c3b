// A module of ours with a fault planted in it, for controls.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const sources = join(import.meta.dirname, "..", "..");

/** In which `sound`, which is there once, reads `broken`. */
export async function breakModule<T>(file: string, sound: string, broken: string): Promise<T> {
  const path = join(sources, file);
  const original = await readFile(path, "utf8");
  if (original.split(sound).length !== 2) throw new Error(`${sound} is not there once in ${file}`);
  const directory = await mkdtemp(join(tmpdir(), "mcpx-broken-"));
  try {
    const [beside, above] = [".", ".."].map((to) => pathToFileURL(join(path, "..", to)).href);
    const planted = stripTypeScriptTypes(original.replace(sound, broken))
      .replaceAll('from "./', `from "${beside}/`)
      .replaceAll('from "../', `from "${above}/`);
    const copy = join(directory, "broken.mjs");
    await writeFile(copy, planted);
    return await import(pathToFileURL(copy).href);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

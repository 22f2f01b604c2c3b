// What the tools of the ledger read: its tables, and every file whose titles may name a requirement.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Entry } from "../mutate/table.ts";
import type { ConformanceRow } from "./conformance-page.ts";
import type { LaterParts } from "./coverage.ts";
import type { TestFile } from "./titles.ts";

const titled = ["{packages,tests,scripts}/**/*{.test,-cases}.ts", "spec/transcripts/*.txt"];

export function readRows(root: string): ConformanceRow[] {
  return readJson(root, "spec/ledger.json");
}

export function readLater(root: string): LaterParts {
  return readJson(root, "spec/later.json");
}

export function readMutations(root: string): Entry[] {
  return pathsIn(root, ["spec/mutations/*.json"]).flatMap((path) => readJson<Entry[]>(root, path));
}

export function readTitledFiles(root: string): TestFile[] {
  return pathsIn(root, titled).map((path) => ({ path, text: readFileSync(join(root, path), "utf8") }));
}

function readJson<T>(root: string, path: string): T {
  return JSON.parse(readFileSync(join(root, path), "utf8"));
}

function pathsIn(root: string, patterns: string[]): string[] {
  return globSync(patterns, { cwd: root, exclude: ["**/node_modules", "**/dist"] }).sort();
}

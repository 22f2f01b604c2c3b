// Which test files show a requirement, and in which order they are asked. Pure: the caller reads the files.
import { basename } from "node:path";
import { namedIds, type TestFile } from "../ledger/titles.ts";

/** For every id the test files whose titles name it: directly, by a case suite they import, or by a transcript. */
export function testsOfIds(files: TestFile[]): Map<string, string[]> {
  const found = new Map<string, Set<string>>();
  for (const file of files) {
    const runners = runnersOf(file.path, files);
    for (const id of namedIds(file)) found.set(id, new Set([...(found.get(id) ?? []), ...runners]));
  }
  return new Map([...found].map(([id, paths]) => [id, [...paths].sort()]));
}

function runnersOf(path: string, files: TestFile[], seen: string[] = []): string[] {
  if (path.endsWith(".txt")) return files.map((file) => file.path).filter(isTranscriptPlayer);
  if (!path.endsWith("-cases.ts")) return [path];
  const importers = files.filter(({ text }) => new RegExp(`from "[./\\w-]*/${basename(path)}"`).test(text));
  const next = importers.map((file) => file.path).filter((importer) => !seen.includes(importer));
  return next.flatMap((importer) => runnersOf(importer, files, [...seen, path]));
}

function isTranscriptPlayer(path: string): boolean {
  return path.startsWith("tests/transcripts/") && path.endsWith(".test.ts");
}

/** Cheap tests first: those beside the code, then those that start servers and programs. Each group is one run. */
export function inStages(paths: string[]): string[][] {
  const isCheap = (path: string) => !path.startsWith("tests/");
  return [paths.filter(isCheap), paths.filter((path) => !isCheap(path))].filter((stage) => stage.length > 0);
}

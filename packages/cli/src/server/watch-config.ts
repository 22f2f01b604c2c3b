// Notices when the configuration file is written, however editors do that: in place, by another file in its place, or
// by another target of a link.
import { type FSWatcher, readFileSync, realpathSync, statSync, watch } from "node:fs";
import { basename, dirname } from "node:path";
import type { Logger } from "@mcpx/host";

export interface ConfigWatch {
  close(): void;
}

export interface WatchOptions {
  /** The file, or the places where one may come to be. */
  paths: readonly string[];
  /** What was there when it was read; what is another already is told at once. */
  seen: ContentOf;
  changed(): void;
  log: Logger;
}

/** By path; `null` where there is nothing. */
export type ContentOf = ReadonlyMap<string, string | null>;

/** Editors write in several steps. */
const settleMs = 200;

export function watchConfig({ paths, changed, log, ...options }: WatchOptions): ConfigWatch {
  let { seen } = options;
  let timer: NodeJS.Timeout | undefined;
  const watchers: FSWatcher[] = [];

  function look(): void {
    timer = undefined;
    const now = contentsOf(paths);
    if (paths.every((path) => now.get(path) === seen.get(path))) return;
    seen = now;
    changed();
  }

  function notice(name: string | null, names: ReadonlySet<string>): void {
    // Directories that are swapped as a whole are linked by names with two dots.
    if (name !== null && !names.has(name) && !name.startsWith("..")) return;
    clearTimeout(timer);
    timer = setTimeout(look, settleMs);
    timer.unref();
  }

  for (const [dir, names] of placesOf(paths)) {
    const fail = (error: NodeJS.ErrnoException) =>
      log.warn({ dir, code: error.code }, "could not watch the configuration file; send SIGHUP to reload it");
    try {
      const watcher = watch(dir, { persistent: false }, (_, name) => notice(name, names));
      watchers.push(watcher.on("error", fail));
    } catch (error) {
      fail(error as NodeJS.ErrnoException);
    }
  }
  look();
  return {
    close() {
      clearTimeout(timer);
      for (const watcher of watchers) watcher.close();
    },
  };
}

/** Directories with the names in them that matter. */
function placesOf(paths: readonly string[]): Map<string, Set<string>> {
  const places = new Map<string, Set<string>>();
  for (const path of paths.flatMap((one) => [one, realPath(one)])) {
    const names = places.get(dirname(path)) ?? new Set();
    places.set(dirname(path), names.add(basename(path)));
  }
  return places;
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

export function contentsOf(paths: readonly string[]): ContentOf {
  return new Map(paths.map((path) => [path, contentOf(path)]));
}

function contentOf(path: string): string | null {
  try {
    // Reading a pipe would wait, and take away what is in it.
    return statSync(path).isFile() ? readFileSync(path, "utf8") : null;
  } catch {
    return null;
  }
}

// Files that are whole or not there at all: written beside their place, on disk, and then put there in one step.
import { randomUUID } from "node:crypto";
import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

interface WriteWholeOptions {
  /** For the owner alone unless told otherwise. */
  mode?: number;
  /** Puts the draft in its place: `renameSync` replaces a file, `linkSync` never does. */
  place?: (draft: string, path: string) => void;
}

export function writeWhole(
  path: string,
  content: string | Uint8Array,
  options: WriteWholeOptions = {},
): void {
  const { mode = 0o600, place = renameSync } = options;
  const draft = `${path}.${randomUUID()}.draft`;
  try {
    const file = openSync(draft, "wx", mode);
    try {
      writeFileSync(file, content);
      // The umask has narrowed the mode that `openSync` was given.
      fchmodSync(file, mode);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    place(draft, path);
    syncDirectory(dirname(path));
  } finally {
    rmSync(draft, { force: true });
  }
}

/** The names of its files are on disk when it returns. */
export function syncDirectory(path: string): void {
  // Windows opens no directories.
  if (process.platform === "win32") return;
  const directory = openSync(path, "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

// Files that are whole or not there at all, for their owner alone.
import { randomUUID } from "node:crypto";
import { open, rm } from "node:fs/promises";

/** Writes it beside `path`, on disk; `place` puts it there, by `rename` or `link`. Nothing else is left of it. */
export async function writeDraft(
  path: string,
  text: string,
  place: (draft: string, path: string) => Promise<void>,
): Promise<void> {
  const draft = `${path}.${randomUUID()}.draft`;
  try {
    const file = await open(draft, "wx", 0o600);
    try {
      await file.writeFile(text);
      await file.sync();
    } finally {
      await file.close();
    }
    await place(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}

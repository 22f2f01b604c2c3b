// Where the transcripts and vectors stand: beside the built kit, or in the repository it runs from.
import { existsSync } from "node:fs";
import { join } from "node:path";

function folder(name: string): string {
  const shipped = join(import.meta.dirname, name);
  return existsSync(shipped) ? shipped : join(import.meta.dirname, "..", "..", "..", "spec", name);
}

export const transcriptsFolder = folder("transcripts");
export const deviceVectorsFolder = join(folder("vectors"), "devices");

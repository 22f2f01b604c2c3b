// Libraries that only some lines need: loaded when the first such line is opened, with a clear message where they are
// not installed, or not built for this Node.
import { LineUnavailableError } from "./line.ts";

export class MissingLibraryError extends LineUnavailableError {}

export async function loadOptional<T>(name: string, purpose: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    if (cause instanceof LineUnavailableError) throw cause;
    const { code, message = "" } = cause as { code?: unknown; message?: string };
    const isMissing = code === "ERR_MODULE_NOT_FOUND";
    const words = isMissing
      ? `${purpose} needs the package ${name}; install it with: npm install ${name}`
      : `${purpose} needs the package ${name}, which is there and cannot be loaded (${firstLineOf(message)}); rebuild it with: npm rebuild ${name}`;
    throw new MissingLibraryError(words, { cause });
  }
}

function firstLineOf(text: string): string {
  return text.slice(0, 200).split("\n", 1)[0] ?? "";
}

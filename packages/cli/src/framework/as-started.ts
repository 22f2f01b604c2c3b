// Commands in hints, named as the user starts this program: `npx mcpx up` in a clone.

/** Puts `program` in the place of `mcpx` before each command that is known. */
export function asStarted(text: string, program: string, commandWords: readonly string[]): string {
  const words = new Set([...commandWords, "help", "COMMAND"]);
  return text.replace(/(?<![\w@/.-]|npx )mcpx (?=([\w-]+))/g, (found, word: string) =>
    words.has(word) ? `${program} ` : found,
  );
}

// Whose word a tool's danger is, as a sentence: the same on every card, page and terminal. Pure.

const words: Readonly<Record<string, string>> = {
  operator: "by this gateway's configuration",
  server: "its server says so, and is trusted here",
  server_warns: "its server says so; warnings are always believed",
  not_believed: "assumed: its server calls it less dangerous, and is not trusted here",
  assumed: "assumed: its server says nothing of its danger",
};

/** `undefined` where a gateway does not say, or says what is not known. */
export function whoseWordText(word: unknown): string | undefined {
  return typeof word === "string" && Object.hasOwn(words, word) ? words[word] : undefined;
}

// One envelope's text against a key book, which may learn a key by it.
import { judgeEnvelope, type SignatureVerdict } from "@mcpx/protocol";
import type { KeyBook } from "./key-book.ts";

/**
 * Judges the text of an envelope, byte for byte as it came. With a book that pins on first use, the first key seen of
 * a participant is pinned; the verdict is still `unpinned`.
 * @example const { state } = await verifyText(line, "kitchen", createKeyBook(keys));
 */
export async function verifyText(text: string, topic: string, book: KeyBook): Promise<SignatureVerdict> {
  const verdict = await judgeEnvelope(text, { topic, keysOf: (participant) => book.keysOf(participant) });
  const { state, key, from } = verdict;
  const isFirst = state === "unpinned" && book.pinsFirstUse && book.keysOf(from).length === 0;
  if (isFirst && key !== undefined) await book.pin(from, key);
  return verdict;
}

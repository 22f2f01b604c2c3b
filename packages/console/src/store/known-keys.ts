// The keys this browser has seen senders sign with, kept for this origin. Nothing in it comes from the gateway's lists.
import type { KeyBook } from "@mcpx/client/signing";

const place = "mcpx-console-known-keys";
let book: Promise<KeyBook> | undefined;

/** The first key seen of a sender is trusted from then on: that tells a change later, not a lie from the beginning. */
export function openKnownKeys(): Promise<KeyBook> {
  book ??= readBook();
  return book;
}

async function readBook(): Promise<KeyBook> {
  const { parseKeyBook } = await import("@mcpx/client/signing");
  return parseKeyBook(stored(), {
    pinsFirstUse: true,
    // Another page may have learnt keys meanwhile: what it has pinned stays.
    save: (known) => localStorage.setItem(place, JSON.stringify({ ...known, ...JSON.parse(stored()) })),
  });
}

function stored(): string {
  return localStorage.getItem(place) ?? "{}";
}

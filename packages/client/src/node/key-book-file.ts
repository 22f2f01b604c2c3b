// A key book in a file: the public keys this program trusts, by participant.
import { randomUUID } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { JsonObject } from "@mcpx/protocol";
import { RoomError } from "../core/room-error.ts";
import { type KeyBook, parseKeyBook } from "../signing/key-book.ts";

export interface KeyBookFileOptions {
  /** Pin the key of the first signature seen of each participant, and write it to the file. */
  pinsFirstUse?: boolean;
}

/**
 * The key book in this file: a JSON object of public Ed25519 JWKs, or lists of them, by participant id. With
 * `pinsFirstUse` the file need not be there yet.
 * @example const room = await joinRoom({ url, topic, token, verify: await keyBookFile("known-keys.json") });
 */
export async function keyBookFile(
  path: string,
  { pinsFirstUse = false }: KeyBookFileOptions = {},
): Promise<KeyBook> {
  const text = await readFile(path, "utf8").catch((error: { code?: unknown }) => {
    if (error.code === "ENOENT" && pinsFirstUse) return "{}";
    throw new RoomError("bad_option", `the key book ${path} cannot be read (${error.code})`, {
      cause: error,
    });
  });
  try {
    return parseKeyBook(text, { pinsFirstUse, save: (book) => replace(path, book) });
  } catch (cause) {
    if (!(cause instanceof RoomError)) throw cause;
    throw new RoomError("bad_option", `${path}: ${cause.message}`, { cause });
  }
}

/** Whole or not at all: a book that was cut off would trust whom it has never seen. */
async function replace(path: string, book: JsonObject): Promise<void> {
  const draft = `${path}.${randomUUID()}`;
  await mkdir(dirname(path), { recursive: true });
  try {
    await writeFile(draft, `${JSON.stringify(book, null, 2)}\n`, { mode: 0o600, flag: "wx", flush: true });
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}

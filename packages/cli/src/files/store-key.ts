// The key that secrets in a store are sealed with. It is never in the store itself: `store.key` in the data directory,
// or what the configuration names.
import { randomBytes } from "node:crypto";
import { linkSync } from "node:fs";
import { join } from "node:path";
import { writeWhole } from "@mcpx/host";
import { Failure } from "../framework/failure.ts";
import { fillIn } from "./fill-in.ts";
import { readWhole } from "./replace-file.ts";
import type { Home, StoreWish } from "./state-place.ts";

const keyBytes = 32;
export const keyFile = "store.key";

/** `undefined` where there is none yet. */
export function readStoreKey({ dataDir, env }: Home, { key, dir }: StoreWish): Buffer | undefined {
  if (key !== undefined) return decode(fillIn(key, { dir, env }), "storeKey");
  const path = join(dataDir, keyFile);
  const file = readWhole(path);
  return file && decode(file.text.trim(), path);
}

/** Of two that make it at once, both get the first's. */
export function makeStoreKey(home: Home, wish: StoreWish): Buffer {
  const text = `${randomBytes(keyBytes).toString("base64url")}\n`;
  try {
    writeWhole(join(home.dataDir, keyFile), text, { place: linkSync });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
  return readStoreKey(home, wish) as Buffer;
}

function decode(text: string, where: string): Buffer {
  const key = Buffer.from(text, "base64url");
  if (key.length >= keyBytes && /^[A-Za-z0-9_-]+$/.test(text)) return key;
  throw new Failure(
    `${where} is not a key of at least ${keyBytes} bytes in base64url`,
    "make one with: openssl rand 32 | basenc --base64url -w0 | tr -d =",
  );
}

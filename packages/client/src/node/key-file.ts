// A key in a file that only its owner reads; made where there is none.

import { generateKeyPairSync, randomUUID } from "node:crypto";
import { chmod, link, mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { AccessKey } from "@mcpx/protocol";
import { RoomError } from "../core/room-error.ts";
import { keyFromJwk } from "../signing/create-key.ts";

/**
 * The Ed25519 key in this file, as a private JWK.
 * @example const room = await joinRoom({ url, topic, token, key: await keyFile("agent.key.json") });
 */
export async function keyFile(path: string): Promise<AccessKey> {
  const text = (await readIfThere(path)) ?? (await make(path));
  try {
    return await keyFromJwk(JSON.parse(text));
  } catch (cause) {
    throw new RoomError("bad_option", `${path} holds no private Ed25519 JWK: move it away`, { cause });
  }
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    const { mode } = await stat(path);
    if ((mode & 0o077) !== 0 && process.platform !== "win32") {
      throw new RoomError("bad_option", `${path} can be read by others: chmod 600 it, or make a new key`);
    }
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as { code?: unknown }).code === "ENOENT") return undefined;
    throw error;
  }
}

/** Whole or not at all, and never over another's. */
async function make(path: string): Promise<string> {
  const { privateKey } = generateKeyPairSync("ed25519");
  const text = `${JSON.stringify(privateKey.export({ format: "jwk" }))}\n`;
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeFile(draft, text, { mode: 0o600, flag: "wx", flush: true });
    await chmod(draft, 0o600);
    await link(draft, path);
    return text;
  } catch (error) {
    const made = (error as { code?: unknown }).code === "EEXIST" ? await readIfThere(path) : undefined;
    if (made === undefined) throw error;
    return made;
  } finally {
    await rm(draft, { force: true });
  }
}

// Credentials in files only their owner may read, one for each key. A write is whole or not there at all.
import { createHash } from "node:crypto";
import { chmod, mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { writeWhole } from "@mcpx/host";
import { isObject } from "@mcpx/protocol";
import { asCredential, type Credential, type CredentialStore } from "./credential-store.ts";

export async function createFileCredentialStore(directory: string): Promise<CredentialStore> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  // It may have been there before, with the rights of somebody less careful.
  await chmod(directory, 0o700);
  // Keys hold names that strangers choose: none of them becomes a path.
  const pathOf = (key: string) => join(directory, `${createHash("sha256").update(key).digest("hex")}.json`);

  const turns = new Map<string, Promise<unknown>>();
  const read = async (key: string) => {
    const kept = parse(await textOf(pathOf(key)));
    return isObject(kept) && kept.key === key ? asCredential(kept.credential) : undefined;
  };

  return {
    read,
    async write(key, credential) {
      if (credential) writeWhole(pathOf(key), JSON.stringify({ key, credential }));
      else await rm(pathOf(key), { force: true });
    },
    async inTurn(key, work) {
      const before = turns.get(key) ?? Promise.resolve();
      const done = before.then(async () => work(await read(key)));
      const over = done.then(
        () => {},
        () => {},
      );
      turns.set(key, over);
      void over.then(() => turns.get(key) === over && turns.delete(key));
      return done;
    },
    async entries() {
      const found: [string, Credential][] = [];
      for (const name of await readdir(directory)) {
        const kept = parse(await textOf(join(directory, name)));
        const credential = isObject(kept) ? asCredential(kept.credential) : undefined;
        const key = isObject(kept) && typeof kept.key === "string" ? kept.key : "";
        if (credential && pathOf(key) === join(directory, name)) found.push([key, credential]);
      }
      return found;
    },
  };
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return "";
    throw error;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

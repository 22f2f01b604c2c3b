// A participant's key file: an Ed25519 JWK that only its owner may read.
import { createPrivateKey, generateKeyPairSync, type JsonWebKey, type KeyObject } from "node:crypto";
import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { type PublicJwk, readPublicJwk } from "@mcpx/host";
import { isObject } from "@mcpx/protocol";
import { Failure } from "../framework/failure.ts";

export function defaultKeyPath(dataDir: string): string {
  return join(dataDir, "keys", "default.jwk");
}

/** Makes a new key; an existing file is never touched. */
export function createKeyFile(path: string): PublicJwk {
  const { privateKey } = generateKeyPairSync("ed25519");
  const jwk = privateKey.export({ format: "jwk" });
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, `${JSON.stringify(jwk)}\n`, { mode: 0o600, flag: "wx" });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST")
      throw new Failure(`there is a key in ${path} already`, "choose another with --out FILE");
    throw new Failure(`the key cannot be written to ${path} (${code})`, "choose another with --out FILE");
  }
  return publicPart(jwk, path);
}

/** The public key of a key file, the private part left behind. */
export function readKeyFile(path: string): PublicJwk {
  return publicPart(readJwk(path), path);
}

/** To sign with. A key that others can read is nobody's signature. */
export function readSigningKey(path: string): { key: KeyObject; jwk: PublicJwk } {
  const value = readJwk(path);
  const jwk = publicPart(value, path);
  if ((statSync(path).mode & 0o077) !== 0) {
    throw new Failure(`others can read the key in ${path}`, `chmod 600 ${path}, or better make a new one`);
  }
  try {
    return { key: createPrivateKey({ key: value as JsonWebKey, format: "jwk" }), jwk };
  } catch {
    throw new Failure(`${path} has only the public part of a key`, "sign where the private one is");
  }
}

function readJwk(path: string): unknown {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new Failure(`the key file ${path} cannot be read (${code})`, "make one with mcpx key new");
  }
  try {
    return JSON.parse(text);
  } catch {
    // The text of a syntax error would quote the file, and with it the key.
    throw notAKey(path);
  }
}

function publicPart(value: unknown, path: string): PublicJwk {
  if (!isObject(value)) throw notAKey(path);
  const { d: _, ...rest } = value;
  const key = readPublicJwk(rest);
  if (key === undefined) throw notAKey(path);
  return key;
}

function notAKey(path: string): Failure {
  return new Failure(`${path} holds no Ed25519 or P-256 key as JWK`, "make one with mcpx key new");
}

// A private key sealed by a passphrase: scrypt (RFC 7914) makes a key of it, AES-256-GCM keeps the seed of the Ed25519
// key secret and everything else in the file unchanged. What the file asks for is bounded before anything is computed.
import { createCipheriv, createDecipheriv, randomBytes, scrypt } from "node:crypto";
import { promisify } from "node:util";
import type { PublicJwk } from "@mcpx/host";
import { canonicalJson, isObject } from "@mcpx/protocol";

export interface SealedKey {
  format: "mcpx-key";
  version: 1;
  kept: "sealed";
  /** The public part. */
  jwk: PublicJwk;
  kdf: { name: "scrypt"; n: number; r: number; p: number; salt: string };
  /** `text`: the sealed seed and behind it the 16 bytes of the tag. */
  cipher: { name: "A256GCM"; iv: string; text: string };
}

export const passphraseCharsMin = 8;

const derive = promisify<string, Buffer, number, { N: number; r: number; p: number; maxmem: number }, Buffer>(
  scrypt,
);
/** 128 MiB and about half a second for each guess. */
const cost = { n: 131_072, r: 8, p: 1 };
/** A file from elsewhere makes nobody compute for long, nor believe in a seal that is none. */
const bounds = { nMin: 32_768, nMax: 262_144, r: 8, pMax: 4 };
const seedBytes = 32;
const tagBytes = 16;

/** `seed`: the 32 bytes of the private key. */
export async function sealKey(jwk: PublicJwk, seed: Buffer, passphrase: string): Promise<SealedKey> {
  const kdf = { name: "scrypt", ...cost, salt: randomBytes(16).toString("base64url") } as const;
  const head = { format: "mcpx-key", version: 1, kept: "sealed", jwk, kdf } as const;
  const iv = randomBytes(12);
  const cipher = createCipheriv("aes-256-gcm", await keyOf(passphrase, kdf), iv);
  cipher.setAAD(Buffer.from(canonicalJson(head)));
  const text = Buffer.concat([cipher.update(seed), cipher.final(), cipher.getAuthTag()]);
  return {
    ...head,
    cipher: { name: "A256GCM", iv: iv.toString("base64url"), text: text.toString("base64url") },
  };
}

/** The seed; `undefined` where the passphrase is another, or anything in the file was changed. */
export async function unsealKey(sealed: SealedKey, passphrase: string): Promise<Buffer | undefined> {
  const { cipher, ...head } = sealed;
  const key = await keyOf(passphrase, sealed.kdf);
  const text = Buffer.from(cipher.text, "base64url");
  const decipher = createDecipheriv("aes-256-gcm", key, Buffer.from(cipher.iv, "base64url"), {
    authTagLength: tagBytes,
  });
  decipher.setAAD(Buffer.from(canonicalJson(head)));
  decipher.setAuthTag(text.subarray(-tagBytes));
  try {
    return Buffer.concat([decipher.update(text.subarray(0, -tagBytes)), decipher.final()]);
  } catch {
    // It says only that something is not as it was sealed.
    return undefined;
  }
}

/** Why a file's content cannot be a sealed key of mcpx; `undefined` where it can. */
export function sealFault({ version, kdf, cipher }: Record<string, unknown>): string | undefined {
  if (version !== 1) return `version ${JSON.stringify(version)} of the key file is not known; known: 1`;
  if (!isObject(kdf) || kdf.name !== "scrypt") return "kdf.name must be scrypt";
  const { n, r, p, salt } = kdf;
  const isPower = Number.isSafeInteger(n) && Number.isInteger(Math.log2(Number(n)));
  if (!isPower || Number(n) < bounds.nMin || Number(n) > bounds.nMax) {
    return `kdf.n must be a power of two from ${bounds.nMin} to ${bounds.nMax}`;
  }
  if (r !== bounds.r) return `kdf.r must be ${bounds.r}`;
  if (!Number.isSafeInteger(p) || Number(p) < 1 || Number(p) > bounds.pMax)
    return `kdf.p must be 1 to ${bounds.pMax}`;
  if (!isBytes(salt, 16)) return "kdf.salt must be 16 bytes in base64url";
  if (!isObject(cipher) || cipher.name !== "A256GCM") return "cipher.name must be A256GCM";
  if (!isBytes(cipher.iv, 12)) return "cipher.iv must be 12 bytes in base64url";
  if (!isBytes(cipher.text, seedBytes + tagBytes)) return "cipher.text must be 48 bytes in base64url";
  return undefined;
}

function keyOf(passphrase: string, { n, r, p, salt }: SealedKey["kdf"]): Promise<Buffer> {
  const maxmem = 128 * n * r + 1_048_576;
  return derive(passphrase.normalize("NFC"), Buffer.from(salt, "base64url"), 32, { N: n, r, p, maxmem });
}

function isBytes(value: unknown, length: number): boolean {
  if (typeof value !== "string" || value.length > 4 * length) return false;
  const bytes = Buffer.from(value, "base64url");
  return bytes.length === length && bytes.toString("base64url") === value;
}

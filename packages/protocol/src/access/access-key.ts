// Keys of capabilities: Ed25519 and nothing else, so that no token can choose how it is verified. WebCrypto, since
// browsers sign too.
import { sha256 } from "../canonical-json.ts";
import { isObject, type JsonObject } from "../json-rpc.ts";
import { fromBase64url } from "./base64url.ts";

export interface Ed25519Jwk extends JsonObject {
  kty: "OKP";
  crv: "Ed25519";
  x: string;
}

/** Signs; where the private part lives is its own matter. */
export interface AccessKey {
  readonly jwk: Ed25519Jwk;
  sign(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array>;
}

type CryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

const keyBytes = 32;
const signatureBytes = 64;
const importedMax = 1_024;
/** Importing costs as much as verifying. The oldest goes first. */
const imported = new Map<string, CryptoKey>();

/** The public key alone; `undefined` for any other value, also for one with a private part. */
export function readEd25519Jwk(value: unknown): Ed25519Jwk | undefined {
  if (!isObject(value) || Object.hasOwn(value, "d")) return undefined;
  const { kty, crv, x } = value;
  if (kty !== "OKP" || crv !== "Ed25519" || typeof x !== "string" || x.length > 64) return undefined;
  return fromBase64url(x)?.length === keyBytes ? { kty, crv, x } : undefined;
}

export function isSameKey(a: Ed25519Jwk | undefined, b: Ed25519Jwk | undefined): boolean {
  return a !== undefined && a.x === b?.x;
}

/** The name of a public key (RFC 7638). */
export function keyThumbprint({ crv, kty, x }: Ed25519Jwk): Promise<string> {
  return sha256(JSON.stringify({ crv, kty, x }));
}

/** Whether this key has signed these bytes. Never throws. */
export async function hasSigned(
  jwk: Ed25519Jwk,
  signature: Uint8Array<ArrayBuffer>,
  bytes: Uint8Array<ArrayBuffer>,
): Promise<boolean> {
  if (signature.length !== signatureBytes) return false;
  try {
    return await crypto.subtle.verify("Ed25519", await importedKey(jwk), signature, bytes);
  } catch {
    return false;
  }
}

async function importedKey({ kty, crv, x }: Ed25519Jwk): Promise<CryptoKey> {
  const known = imported.get(x);
  if (known !== undefined) return known;
  const key = await crypto.subtle.importKey("jwk", { kty, crv, x }, "Ed25519", false, ["verify"]);
  const [oldest] = imported.keys();
  if (imported.size >= importedMax && oldest !== undefined) imported.delete(oldest);
  imported.set(x, key);
  return key;
}

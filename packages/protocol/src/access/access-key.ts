// Keys of capabilities: Ed25519 and nothing else, so that no token can choose how it is verified. WebCrypto, since
// browsers sign too.
import { sha256 } from "../json/canonical-json.ts";
import { isObject, type JsonObject } from "../json/json-rpc.ts";
import { fromBase64url, toBase64url } from "./base64url.ts";

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
/**
 * The points of small order, as any decoder may read them, without the sign bit: anybody can sign for such a key, so
 * its owner could deny every signature.
 */
const smallOrder = new Set([
  "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
  "AQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
  "JuiVj8KyJ7BFw_SJ8u-Y8NXfrAXTxjM5sTgCiG1T_AU",
  "xxdqcD1N2E-6PAt2DRBnDyogU_osOczGTsf9d5KsA3o",
  "7P_______________________________________38",
  "7f_______________________________________38",
  "7v_______________________________________38",
]);
const signatureBytes = 64;
const importedMax = 1_024;
/** Importing costs as much as verifying. The oldest goes first. */
const imported = new Map<string, CryptoKey>();

/** The public key alone; `undefined` for any other value, also for one with a private part. */
export function readEd25519Jwk(value: unknown): Ed25519Jwk | undefined {
  if (!isObject(value) || Object.hasOwn(value, "d")) return undefined;
  const { kty, crv, x } = value;
  if (kty !== "OKP" || crv !== "Ed25519" || typeof x !== "string" || x.length > 64) return undefined;
  const bytes = fromBase64url(x);
  return bytes?.length === keyBytes && !isSmallOrder(bytes) ? { kty, crv, x } : undefined;
}

function isSmallOrder(bytes: Uint8Array): boolean {
  return smallOrder.has(toBase64url(bytes.map((byte, at) => (at === keyBytes - 1 ? byte & 0x7f : byte))));
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

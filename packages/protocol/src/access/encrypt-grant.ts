// A grant that only its holder can read: JWE (RFC 7516), ECDH-ES over X25519 with A256GCM. The key it is encrypted to
// is made for the occasion and signed by the holder's own, so nobody slips in another. [AC-8-3] [AC-8-6]
import { canonicalJson } from "../json/canonical-json.ts";
import { isObject, type JsonObject } from "../json/json-rpc.ts";
import type { AccessKey, Ed25519Jwk } from "./access-key.ts";
import { fromBase64url, toBase64url } from "./base64url.ts";
import { isDetachedBy, signDetached } from "./compact-jws.ts";

export interface EncryptionKey {
  /** For the request. */
  readonly offer: EncryptionOffer;
  /** The text of a grant; throws where it is not for this key. */
  decrypt(jwe: string): Promise<string>;
}

export interface EncryptionOffer extends JsonObject {
  jwk: { kty: "OKP"; crv: "X25519"; x: string };
  signature: string;
}

type CryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

const offerType = "mcpx-encryption-key+jws";
const alg = "ECDH-ES";
const enc = "A256GCM";
const keyBits = 256;
const tagBytes = 16;
const jweCharsMax = 65_536;
const utf8 = new TextEncoder();

/** A key for one grant, in one room, by one owner. */
export async function offerEncryption(key: AccessKey, topic: string, owner: string): Promise<EncryptionKey> {
  const pair = await newPair();
  const jwk = await publicJwk(pair.publicKey);
  const signature = await signDetached(key, offerType, offerText(jwk, topic, owner));
  return { offer: { jwk, signature }, decrypt: (jwe) => decrypt(jwe, pair.privateKey) };
}

/** The key to encrypt to, where this holder has signed it for this room and owner. */
export async function readOffer(
  value: unknown,
  holderKey: Ed25519Jwk,
  topic: string,
  owner: string,
): Promise<EncryptionOffer["jwk"] | undefined> {
  const { jwk, signature } = isObject(value) ? value : {};
  const { kty, crv, x } = isObject(jwk) ? jwk : {};
  if (kty !== "OKP" || crv !== "X25519" || typeof x !== "string" || typeof signature !== "string")
    return undefined;
  if (fromBase64url(x)?.length !== 32) return undefined;
  const read = { kty, crv, x } as const;
  return (await isDetachedBy(holderKey, offerType, offerText(read, topic, owner), signature))
    ? read
    : undefined;
}

export async function encryptTo(jwk: EncryptionOffer["jwk"], text: string): Promise<string> {
  const pair = await newPair();
  const header = toBase64url(utf8.encode(JSON.stringify({ alg, enc, epk: await publicJwk(pair.publicKey) })));
  const theirs = await importX25519(jwk);
  const key = await deriveKey(pair.privateKey, theirs, ["encrypt"]);
  const iv = crypto.getRandomValues(new Uint8Array(12));
  const options = { name: "AES-GCM", iv, additionalData: utf8.encode(header) };
  const sealed = new Uint8Array(await crypto.subtle.encrypt(options, key, utf8.encode(text)));
  const [body, tag] = [sealed.subarray(0, -tagBytes), sealed.subarray(-tagBytes)];
  return [header, "", toBase64url(iv), toBase64url(body), toBase64url(tag)].join(".");
}

async function decrypt(jwe: string, privateKey: CryptoKey): Promise<string> {
  const parts = jwe.length > jweCharsMax ? [] : jwe.split(".");
  const [header = "", none, ...rest] = parts;
  const [iv, body, tag] = rest.map(fromBase64url);
  const head: unknown = JSON.parse(new TextDecoder().decode(fromBase64url(header) ?? utf8.encode("null")));
  const isOurs = isObject(head) && head.alg === alg && head.enc === enc && isObject(head.epk);
  if (!isOurs || parts.length !== 5 || none !== "" || !iv || !body || tag?.length !== tagBytes) {
    throw new Error(`not a JWE of ${alg} and ${enc}`);
  }
  const theirs = await importX25519(head.epk as EncryptionOffer["jwk"]);
  const key = await deriveKey(privateKey, theirs, ["decrypt"]);
  const options = { name: "AES-GCM", iv, additionalData: utf8.encode(header) };
  const opened = await crypto.subtle.decrypt(options, key, new Uint8Array([...body, ...tag]));
  return new TextDecoder("utf-8", { fatal: true }).decode(opened);
}

/** Concat KDF (RFC 7518, section 4.6) for one block: 256 bits of SHA-256. */
async function deriveKey(
  own: CryptoKey,
  theirs: CryptoKey,
  usages: ("encrypt" | "decrypt")[],
): Promise<CryptoKey> {
  const secret = await crypto.subtle.deriveBits({ name: "X25519", public: theirs }, own, keyBits);
  const info = [uint32(1), new Uint8Array(secret), counted(enc), counted(""), counted(""), uint32(keyBits)];
  const digest = await crypto.subtle.digest("SHA-256", new Uint8Array(info.flatMap((part) => [...part])));
  return crypto.subtle.importKey("raw", digest, "AES-GCM", false, usages);
}

function counted(text: string): Uint8Array {
  const bytes = utf8.encode(text);
  return new Uint8Array([...uint32(bytes.length), ...bytes]);
}

function uint32(value: number): Uint8Array {
  return new Uint8Array([value >>> 24, value >>> 16, value >>> 8, value]);
}

async function newPair(): Promise<{ publicKey: CryptoKey; privateKey: CryptoKey }> {
  const pair = await crypto.subtle.generateKey("X25519", false, ["deriveBits"]);
  return pair as Exclude<typeof pair, CryptoKey>;
}

async function publicJwk(key: CryptoKey): Promise<EncryptionOffer["jwk"]> {
  const { x } = await crypto.subtle.exportKey("jwk", key);
  return { kty: "OKP", crv: "X25519", x: x as string };
}

function importX25519({ kty, crv, x }: EncryptionOffer["jwk"]): Promise<CryptoKey> {
  return crypto.subtle.importKey("jwk", { kty, crv, x }, "X25519", false, []);
}

function offerText(jwk: EncryptionOffer["jwk"], topic: string, owner: string): string {
  return canonicalJson({ jwk, topic, owner });
}

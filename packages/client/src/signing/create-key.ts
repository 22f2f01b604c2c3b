// Ed25519 keys to sign with, from WebCrypto: the private part need never leave it.
import { type AccessKey, type Ed25519Jwk, type JsonObject, readEd25519Jwk } from "@mcpx/protocol";
import { RoomError } from "../core/room-error.ts";

type CryptoKey = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

/**
 * A new key that nobody can copy, for as long as this program or page lives.
 * @example const key = await createKey();
 */
export async function createKey(): Promise<AccessKey> {
  const pair = await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]);
  return keyFromPair(pair as Exclude<typeof pair, CryptoKey>);
}

/**
 * A key from WebCrypto's own pair, such as one kept in IndexedDB.
 * @example const key = await keyFromPair(await crypto.subtle.generateKey("Ed25519", false, ["sign", "verify"]));
 */
export async function keyFromPair(pair: {
  readonly publicKey: CryptoKey;
  readonly privateKey: CryptoKey;
}): Promise<AccessKey> {
  return signerOf(await crypto.subtle.exportKey("jwk", pair.publicKey), pair.privateKey);
}

/**
 * A key from a private JWK.
 * @example const key = await keyFromJwk(JSON.parse(secret));
 */
export async function keyFromJwk(jwk: JsonObject): Promise<AccessKey> {
  const { kty, crv, x, d } = jwk;
  if (kty !== "OKP" || crv !== "Ed25519" || typeof x !== "string" || typeof d !== "string") {
    throw new RoomError("bad_option", "the key must be a private Ed25519 JWK");
  }
  return signerOf(
    { kty, crv, x },
    await crypto.subtle.importKey("jwk", { kty, crv, x, d }, "Ed25519", false, ["sign"]),
  );
}

function signerOf(publicJwk: object, privateKey: CryptoKey): AccessKey {
  const { kty, crv, x } = publicJwk as JsonObject;
  const jwk: Ed25519Jwk | undefined = readEd25519Jwk({ kty, crv, x });
  if (jwk === undefined) throw new RoomError("bad_option", "the key must be an Ed25519 key");
  return {
    jwk,
    sign: async (bytes) => new Uint8Array(await crypto.subtle.sign("Ed25519", privateKey, bytes)),
  };
}

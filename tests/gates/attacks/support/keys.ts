// Keys of honest and dishonest people, and signed texts of any shape, right or wrong.
import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { type PublicJwk, thumbprint } from "@mcpx/host";
import type { JsonObject } from "@mcpx/protocol";

export interface Key {
  jwk: PublicJwk;
  publicKey: KeyObject;
  privateKey: KeyObject;
  kid: string;
}

export function newKey(type: "ed25519" | "p256" = "ed25519"): Key {
  const { publicKey, privateKey } =
    type === "ed25519" ? generateKeyPairSync("ed25519") : generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwk = publicKey.export({ format: "jwk" }) as PublicJwk;
  return { jwk, publicKey, privateKey, kid: thumbprint(jwk) };
}

type Signer = (input: string) => Uint8Array | string;

/** As the key's kind wants it, whatever the header says. */
export function by({ privateKey }: Key): Signer {
  const isEd = privateKey.asymmetricKeyType === "ed25519";
  return (input) =>
    isEd
      ? sign(null, Buffer.from(input), privateKey)
      : sign("sha256", Buffer.from(input), { key: privateKey, dsaEncoding: "ieee-p1363" });
}

export function byHmac(secret: Uint8Array | string): Signer {
  return (input) => createHmac("sha256", secret).update(input).digest();
}

export const unsigned: Signer = () => "";

/** A compact JWS; the payload may be a text that no object would give. */
export function jws(header: JsonObject | string, payload: JsonObject | string, signer: Signer): string {
  const part = (one: JsonObject | string) =>
    Buffer.from(typeof one === "string" ? one : JSON.stringify(one)).toString("base64url");
  const input = `${part(header)}.${part(payload)}`;
  const signature = signer(input);
  return `${input}.${typeof signature === "string" ? signature : Buffer.from(signature).toString("base64url")}`;
}

export function headerOf({ jwk, kid }: Key, typ = "mcpx-proof+jwt"): JsonObject {
  return { alg: jwk.kty === "OKP" ? "EdDSA" : "ES256", typ, kid };
}

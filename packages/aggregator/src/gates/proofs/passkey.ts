// A passkey that decides about gates: what is kept of it, and its public key in the forms that are needed. Pure.
import { createPublicKey, hash } from "node:crypto";
import { type PublicJwk, readPublicJwk, thumbprint } from "@mcpx/host";
import { isObject, type JsonObject } from "@mcpx/protocol";

/** Some platforms have nothing but RSA. */
export type PasskeyJwk = PublicJwk | { kty: "RSA"; n: string; e: string };

export interface Passkey {
  /** In base64url. */
  readonly credentialId: string;
  readonly publicKey: PasskeyJwk;
  /** How often it was used, by its own count; 0 where it does not count. */
  readonly counter: number;
  /** The name it was made for, and the one address where it may be used: others there have other ports. */
  readonly rpId: string;
  readonly origin: string;
  readonly transports: readonly string[];
}

const credentialIdCharsMax = 1_364;
const nameCharsMax = 255;
const transportsMax = 10;
/** 2 048 to 4 096 bits. */
const rsaBytes = { min: 256, max: 512 };

/** Throws plainly where it is none. */
export function readPasskey(value: unknown): Passkey {
  if (!isObject(value)) throw new Error("a passkey must be an object");
  const { credentialId, counter, rpId, origin, transports = [] } = value;
  const publicKey = readPasskeyJwk(value.publicKey);
  if (publicKey === undefined) throw new Error("publicKey is not the public key of a passkey");
  if (!isBase64Url(credentialId) || credentialId.length > credentialIdCharsMax) {
    throw new Error("credentialId must be base64url");
  }
  if (!Number.isSafeInteger(counter) || (counter as number) < 0)
    throw new Error("counter must be a whole number");
  if (!isName(rpId) || !isName(origin) || URL.parse(origin)?.origin !== origin) {
    throw new Error("rpId and origin must say where it may be used");
  }
  if (!Array.isArray(transports) || transports.length > transportsMax || !transports.every(isName)) {
    throw new Error("transports must be a short list of names");
  }
  return { credentialId, publicKey, counter: counter as number, rpId, origin, transports };
}

function readPasskeyJwk(value: unknown): PasskeyJwk | undefined {
  return readPublicJwk(value) ?? (isObject(value) ? readRsa(value) : undefined);
}

/** The name of the key (RFC 7638), the same as for keys that are no passkeys. */
export function passkeyThumbprint(jwk: PasskeyJwk): string {
  if (jwk.kty !== "RSA") return thumbprint(jwk);
  return hash("sha256", JSON.stringify({ e: jwk.e, kty: jwk.kty, n: jwk.n }), "base64url");
}

/** As authenticators write keys (RFC 9053): a map in CBOR. */
export function coseOf(jwk: PasskeyJwk): Uint8Array<ArrayBuffer> {
  switch (jwk.kty) {
    case "EC":
      return joined([0xa5, 1, 2, 3, 0x26, 0x20, 1, 0x21], jwk.x, [0x22], jwk.y);
    case "OKP":
      return joined([0xa4, 1, 1, 3, 0x27, 0x20, 6, 0x21], jwk.x);
    case "RSA":
      return joined([0xa4, 1, 3, 3, 0x39, 1, 0, 0x20], jwk.n, [0x21], jwk.e);
  }
}

/** From the members of such a map, already decoded; `undefined` for keys of other kinds. */
export function jwkOfCose(members: { get(key: number): unknown }): PasskeyJwk | undefined {
  const text = (key: number) => {
    const bytes = members.get(key);
    return bytes instanceof Uint8Array ? Buffer.from(bytes).toString("base64url") : undefined;
  };
  const [kty, crv] = [members.get(1), members.get(-1)];
  if (kty === 1 && crv === 6) return readPasskeyJwk({ kty: "OKP", crv: "Ed25519", x: text(-2) });
  if (kty === 2 && crv === 1) return readPasskeyJwk({ kty: "EC", crv: "P-256", x: text(-2), y: text(-3) });
  return kty === 3 ? readPasskeyJwk({ kty: "RSA", n: text(-1), e: text(-2) }) : undefined;
}

/** One spelling only. */
export function isBase64Url(value: unknown): value is string {
  return (
    typeof value === "string" &&
    value !== "" &&
    Buffer.from(value, "base64url").toString("base64url") === value
  );
}

function readRsa({ kty, n, e, d }: JsonObject): PasskeyJwk | undefined {
  if (kty !== "RSA" || d !== undefined || !isBase64Url(n) || e !== "AQAB") return undefined;
  const bytes = Buffer.byteLength(n, "base64url");
  if (bytes < rsaBytes.min || bytes > rsaBytes.max) return undefined;
  const jwk = { kty, n, e } as const;
  try {
    createPublicKey({ key: jwk, format: "jwk" });
    return jwk;
  } catch {
    return undefined;
  }
}

function isName(value: unknown): value is string {
  return typeof value === "string" && value !== "" && value.length <= nameCharsMax;
}

/** Texts are bytes in base64url, and come with their length. */
function joined(...parts: readonly (readonly number[] | string)[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(
    Buffer.concat(
      parts.map((part) => {
        if (typeof part !== "string") return Buffer.from(part);
        const bytes = Buffer.from(part, "base64url");
        return Buffer.concat([lengthOf(bytes.length), bytes]);
      }),
    ),
  );
}

function lengthOf(length: number): Buffer {
  if (length < 24) return Buffer.from([0x40 + length]);
  return Buffer.from(length < 256 ? [0x58, length] : [0x59, length >> 8, length & 0xff]);
}

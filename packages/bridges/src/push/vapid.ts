// Who sends a push message, for the push service (RFC 8292): a short-lived token of the gateway's own push key.
import { createPrivateKey, generateKeyPairSync, type JsonWebKey, sign } from "node:crypto";

export interface PushKey {
  /** What browsers subscribe with: an uncompressed point of P-256 in base64url. */
  readonly publicKey: string;
  readonly privateJwk: JsonWebKey;
}

const lifeSeconds = 12 * 3_600;

export function newPushKey(): PushKey {
  return pushKeyOf(generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ format: "jwk" }));
}

export function pushKeyOf(privateJwk: JsonWebKey): PushKey {
  const [x, y] = [privateJwk.x ?? "", privateJwk.y ?? ""].map((part) => Buffer.from(part, "base64url"));
  const publicKey = Buffer.concat([Buffer.of(4), x ?? Buffer.of(), y ?? Buffer.of()]).toString("base64url");
  return { publicKey, privateJwk };
}

/** `contact`: where the service's people reach the operator. */
export function vapidHeader(key: PushKey, endpoint: string, contact: string, nowMs: number): string {
  const claims = {
    aud: new URL(endpoint).origin,
    exp: Math.floor(nowMs / 1_000) + lifeSeconds,
    sub: contact,
  };
  const head = [{ typ: "JWT", alg: "ES256" }, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString("base64url"))
    .join(".");
  const privateKey = createPrivateKey({ key: key.privateJwk, format: "jwk" });
  const signature = sign("sha256", Buffer.from(head), { key: privateKey, dsaEncoding: "ieee-p1363" });
  return `vapid t=${head}.${signature.toString("base64url")}, k=${key.publicKey}`;
}

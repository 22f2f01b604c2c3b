// The name of a public key (RFC 7638).
import { hash } from "node:crypto";
import type { PublicJwk } from "../principal.ts";

export function thumbprint(key: PublicJwk): string {
  // Required members only, in alphabetical order.
  const { kty, crv, x } = key;
  const members = key.kty === "EC" ? { crv, kty, x, y: key.y } : { crv, kty, x };
  return hash("sha256", JSON.stringify(members), "base64url");
}

// A public key given by somebody else: taken only if it is one of the two kinds we verify, and nothing private.
import { createPublicKey } from "node:crypto";
import { isObject } from "@mcpx/protocol";
import type { PublicJwk } from "../principal.ts";

const privateMembers = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];

/** The key without any other member, or `undefined` where it is not a public Ed25519 or P-256 key. */
export function readPublicJwk(value: unknown): PublicJwk | undefined {
  if (!isObject(value) || privateMembers.some((name) => Object.hasOwn(value, name))) return undefined;
  const { kty, crv, x, y } = value;
  if (!isCoordinate(x)) return undefined;
  if (kty === "OKP" && crv === "Ed25519") return checked({ kty, crv, x });
  if (kty === "EC" && crv === "P-256" && isCoordinate(y)) return checked({ kty, crv, x, y });
  return undefined;
}

/** 32 bytes in base64url, spelled the one canonical way: the same key must not have two names. */
function isCoordinate(value: unknown): value is string {
  if (typeof value !== "string" || value.length !== 43) return false;
  return Buffer.from(value, "base64url").toString("base64url") === value;
}

function checked(jwk: PublicJwk): PublicJwk | undefined {
  try {
    // Refuses points that are not on the curve.
    createPublicKey({ key: jwk, format: "jwk" });
    return jwk;
  } catch {
    return undefined;
  }
}

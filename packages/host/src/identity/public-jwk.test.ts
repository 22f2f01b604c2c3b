import { generateKeyPairSync, type JsonWebKey } from "node:crypto";
import { expect, test } from "vitest";
import { readPublicJwk } from "./public-jwk.ts";

const exported = (type: "ed25519" | "P-256" | "P-384" | "x25519" | "rsa", which: "public" | "private") => {
  const pair =
    type === "rsa"
      ? generateKeyPairSync("rsa", { modulusLength: 2048 })
      : type === "ed25519"
        ? generateKeyPairSync("ed25519")
        : type === "x25519"
          ? generateKeyPairSync("x25519")
          : generateKeyPairSync("ec", { namedCurve: type });
  return (which === "public" ? pair.publicKey : pair.privateKey).export({ format: "jwk" }) as JsonWebKey;
};

test("Ed25519 and P-256 public keys are taken, and nothing else of the object", () => {
  for (const type of ["ed25519", "P-256"] as const) {
    const key = exported(type, "public");
    expect(readPublicJwk({ ...key, kid: "x", use: "sig", extra: { a: 1 } })).toEqual(key);
  }
});

test("private, symmetric, other and broken keys are refused", () => {
  const good = exported("ed25519", "public");
  for (const value of [
    undefined,
    null,
    "text",
    [],
    {},
    exported("ed25519", "private"),
    exported("P-256", "private"),
    exported("P-384", "public"),
    exported("x25519", "public"),
    exported("rsa", "public"),
    { kty: "oct", k: "c2VjcmV0" },
    { ...good, d: undefined },
    { ...good, x: `${good.x}=` },
    { ...good, x: good.x?.slice(1) },
    { ...good, x: 7 },
    // Not on the curve.
    { kty: "EC", crv: "P-256", x: "A".repeat(43), y: "A".repeat(43) },
    // The same bytes, spelled with other unused bits.
    { ...good, x: `${"A".repeat(42)}B` },
  ]) {
    expect(readPublicJwk(value)).toBeUndefined();
  }
});

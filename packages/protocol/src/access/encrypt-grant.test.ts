import { createPrivateKey, generateKeyPairSync, sign } from "node:crypto";
import { expect, test } from "vitest";
import type { AccessKey, Ed25519Jwk } from "./access-key.ts";
import { encryptTo, offerEncryption, readOffer } from "./encrypt-grant.ts";

function newKey(): AccessKey {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const { x } = publicKey.export({ format: "jwk" });
  return {
    jwk: { kty: "OKP", crv: "Ed25519", x } as Ed25519Jwk,
    sign: async (bytes) =>
      sign(null, bytes, createPrivateKey(privateKey.export({ format: "pem", type: "pkcs8" }))),
  };
}

const [ann, mallory] = [newKey(), newKey()];

test("[AC-8-3] only the key a grant was encrypted to opens it", async () => {
  const mine = await offerEncryption(ann, "kitchen", "oven");
  const other = await offerEncryption(ann, "kitchen", "oven");
  const jwe = await encryptTo(mine.offer.jwk, "the grant");
  expect(jwe).not.toContain("the grant");
  expect(await mine.decrypt(jwe)).toBe("the grant");
  await expect(other.decrypt(jwe)).rejects.toThrow();
});

test("[AC-8-3] whoever changes a byte of it, or its algorithm, opens nothing", async () => {
  const { offer, decrypt } = await offerEncryption(ann, "kitchen", "oven");
  const [header = "", none, iv, body = "", tag] = (await encryptTo(offer.jwk, "the grant")).split(".");
  const flipped = `${body.startsWith("A") ? "B" : "A"}${body.slice(1)}`;
  await expect(decrypt([header, none, iv, flipped, tag].join("."))).rejects.toThrow();
  const other = btoa(JSON.stringify({ ...JSON.parse(atob(header)), enc: "A128GCM" })).replaceAll("=", "");
  await expect(decrypt([other, none, iv, body, tag].join("."))).rejects.toThrow(/not a JWE/);
  for (const jwe of ["", "a.b.c", "....", "x".repeat(70_000)]) await expect(decrypt(jwe)).rejects.toThrow();
});

test("[AC-8-6] a key is encrypted to only where the holder has signed it for this room and this owner", async () => {
  const { offer } = await offerEncryption(ann, "kitchen", "oven");
  expect(await readOffer(offer, ann.jwk, "kitchen", "oven")).toEqual(offer.jwk);
  expect(await readOffer(offer, mallory.jwk, "kitchen", "oven")).toBeUndefined();
  expect(await readOffer(offer, ann.jwk, "cellar", "oven")).toBeUndefined();
  expect(await readOffer(offer, ann.jwk, "kitchen", "stove")).toBeUndefined();
  const swapped = { ...offer, jwk: (await offerEncryption(mallory, "kitchen", "oven")).offer.jwk };
  expect(await readOffer(swapped, ann.jwk, "kitchen", "oven")).toBeUndefined();
  for (const value of [undefined, {}, { jwk: offer.jwk }, { ...offer, jwk: { ...offer.jwk, x: "AA" } }]) {
    expect(await readOffer(value, ann.jwk, "kitchen", "oven")).toBeUndefined();
  }
});

import { generateKeyPairSync } from "node:crypto";
import type { PublicJwk } from "@mcpx/host";
import { beforeAll, expect, test } from "vitest";
import { type SealedKey, sealFault, sealKey, unsealKey } from "./sealed-key.ts";

const passphrase = "correct horse battery";
let sealed: SealedKey;
let seed: Buffer;

beforeAll(async () => {
  const { kty, crv, x, d } = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
  seed = Buffer.from(String(d), "base64url");
  sealed = await sealKey({ kty, crv, x } as PublicJwk, seed, passphrase);
});

test("[B-KEY-1] a sealed key opens to its passphrase and to no other", async () => {
  expect(sealFault(sealed as never)).toBeUndefined();
  expect(await unsealKey(sealed, passphrase)).toEqual(seed);
  for (const wrong of ["", "correct horse batter", `${passphrase} `]) {
    expect(await unsealKey(sealed, wrong)).toBeUndefined();
  }
  expect(JSON.stringify(sealed)).not.toContain(seed.toString("base64url"));
});

test("[B-KEY-1] one passphrase in two spellings of Unicode is the same", async () => {
  const made = await sealKey(sealed.jwk, seed, "Tür zum Garten".normalize("NFD"));
  expect(await unsealKey(made, "Tür zum Garten".normalize("NFC"))).toEqual(seed);
});

test("[B-KEY-1] whatever is changed in the file opens to nothing", async () => {
  const { x } = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
  const flipped = (text: string) => `${text.startsWith("A") ? "B" : "A"}${text.slice(1)}`;
  const { kdf, cipher, jwk } = sealed;
  const changed: SealedKey[] = [
    { ...sealed, jwk: { ...jwk, x: String(x) } as PublicJwk },
    { ...sealed, kdf: { ...kdf, n: kdf.n / 2 } },
    { ...sealed, kdf: { ...kdf, salt: flipped(kdf.salt) } },
    { ...sealed, cipher: { ...cipher, iv: flipped(cipher.iv) } },
    { ...sealed, cipher: { ...cipher, text: flipped(cipher.text) } },
  ];
  for (const one of changed) expect(await unsealKey(one, passphrase)).toBeUndefined();
});

test("[B-KEY-1] what a file asks to be computed is bounded before anything is", () => {
  const { kdf, cipher } = sealed;
  const bad: [string, object][] = [
    ["version", { version: 2 }],
    ["kdf.name", { kdf: { ...kdf, name: "pbkdf2" } }],
    ["kdf.n", { kdf: { ...kdf, n: 2 ** 30 } }],
    ["kdf.n", { kdf: { ...kdf, n: 1024 } }],
    ["kdf.n", { kdf: { ...kdf, n: 131_073 } }],
    ["kdf.r", { kdf: { ...kdf, r: 1 } }],
    ["kdf.p", { kdf: { ...kdf, p: 1_000 } }],
    ["kdf.salt", { kdf: { ...kdf, salt: "AA" } }],
    ["cipher.name", { cipher: { ...cipher, name: "none" } }],
    ["cipher.iv", { cipher: { ...cipher, iv: "AA" } }],
    ["cipher.text", { cipher: { ...cipher, text: "AA" } }],
  ];
  for (const [named, change] of bad) expect(sealFault({ ...sealed, ...change } as never)).toContain(named);
});

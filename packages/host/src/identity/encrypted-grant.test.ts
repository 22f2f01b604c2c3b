// What the protocol encrypts is a JWE to others as well: here the library this package verifies tokens with.
import { encryptTo } from "@mcpx/protocol";
import { compactDecrypt, exportJWK, generateKeyPair } from "jose";
import { expect, test } from "vitest";

test("[AC-8-3] jose opens an encrypted grant", async () => {
  const { publicKey, privateKey } = await generateKeyPair("ECDH-ES", { crv: "X25519", extractable: true });
  const { x } = await exportJWK(publicKey);
  const jwe = await encryptTo({ kty: "OKP", crv: "X25519", x: String(x) }, "the grant");
  const { plaintext, protectedHeader } = await compactDecrypt(jwe, privateKey);
  expect(new TextDecoder().decode(plaintext)).toBe("the grant");
  expect(protectedHeader).toMatchObject({ alg: "ECDH-ES", enc: "A256GCM" });
});

import { type GateTerms, statementOf } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { type AssertionWish, softPasskey } from "../testing/soft-passkey.ts";
import { anchorKeys } from "./anchors.ts";
import { coseOf, jwkOfCose, type Passkey, passkeyThumbprint, readPasskey } from "./passkey.ts";
import { checkProof, type ProofQuestion } from "./proofs.ts";

const gate: GateTerms = {
  confirmation_id: "c-1",
  aggregator_id: "7f0c2a34-0000-4000-8000-000000000001",
  route: ["plant", "files", "delete"],
  tool: "files.delete",
  arguments_digest: `sha256:${"A".repeat(43)}`,
  nonce: "n".repeat(43),
  expires_at: 1_893_456_300,
};
const question: ProofQuestion = {
  requester: { principal: "agent", thumbprints: [] },
  now: (gate.expires_at - 200) * 1_000,
};
const anna = softPasskey();
const keysOf = (passkey: Passkey, keep?: (name: string, counter: number) => Promise<void>) =>
  anchorKeys([{ kind: "passkey", name: "anna", ...passkey }], keep);
const bad = (detail = "") =>
  expect.objectContaining({ code: "bad_proof", detail: expect.stringContaining(detail) });
const check = (proof: string, more: Partial<ProofQuestion> = {}, keys = keysOf(anna.passkey)) =>
  checkProof(proof, gate, keys, { ...question, ...more });

test.each(["EC", "OKP", "RSA"] as const)(
  "[AX-11.3-2] a passkey (%s) over this statement holds",
  async (kty) => {
    const { passkey, prove } = softPasskey(kty);
    for (const decision of ["approve", "reject"] as const) {
      const proof = await prove(gate, { decision, ...(decision === "reject" && { reason: "no ß" }) });
      expect(await checkProof(proof, gate, keysOf(passkey), question)).toEqual({
        by: "anna",
        isPress: false,
        thumbprint: passkeyThumbprint(passkey.publicKey),
        statement: statementOf(gate, decision, decision === "reject" ? "no ß" : undefined),
        proofHash: expect.stringMatching(/^[\w-]{43}$/),
      });
    }
  },
);

test("[AX-11.3-2] one passkey's one statement is one proof, however often it is signed", async () => {
  const first = await anna.prove(gate, { counter: 1 });
  const again = await anna.prove(gate, { counter: 2 });
  expect(again).not.toBe(first);
  expect((await check(again)).proofHash).toBe((await check(first)).proofHash);
  const rejected = await anna.prove(gate, { decision: "reject" });
  expect((await check(rejected)).proofHash).not.toBe((await check(first)).proofHash);
});

test.each<[string, AssertionWish]>([
  ["another call", { challenge: "A".repeat(43) }],
  ["another address", { origin: "http://localhost:7333" }],
  ["another address", { origin: "https://localhost:7332" }],
  ["another address", { origin: "http://evil.localhost:7332" }],
  ["inside another page", { crossOrigin: true }],
  ["is not valid", { rpId: "evil.localhost" }],
  ["is not valid", { flags: 1 }],
  ["is not valid", { flags: 4 }],
  ["is not valid", { flags: 0 }],
  ["is not valid", { type: "webauthn.create" }],
])("[AX-11.3-2] refused as %s: %o", async (detail, wish) => {
  await expect(check(await anna.prove(gate, wish))).rejects.toThrow(bad(detail));
});

test.each<[string, object]>([
  ["decision", { decision: "reject" }],
  ["reason", { reason: "because" }],
  ["decision", { decision: "allow" }],
  ["signature", { signature: "AAAA" }],
  ["client_data", { client_data: "e30" }],
  ["client_data", { client_data: "not base64url!" }],
  ["authenticator_data", { authenticator_data: "AAAA" }],
  ["credential_id", { credential_id: "AAAA" }],
  ["type", { type: "jws" }],
  ["signature", { signature: null }],
])("[AX-11.3-2] with another %s than was signed, it does not hold: %o", async (_field, more) => {
  const proof = { ...JSON.parse(await anna.prove(gate)), ...more };
  await expect(check(JSON.stringify(proof))).rejects.toThrow(bad());
});

test("[AX-11.3-2] for another gate it does not hold", async () => {
  const proof = await anna.prove({ ...gate, confirmation_id: "c-2", nonce: "m".repeat(43) });
  await expect(check(proof)).rejects.toThrow(bad("another call"));
});

test.each(["{", "{}", "{]", `{"type":"webauthn"}`, `{${" ".repeat(16_400)}}`])(
  "what is none: %s",
  async (text) => {
    await expect(check(text)).rejects.toThrow(bad());
  },
);

test("[AX-11.3-6] whoever asks does not decide, by passkey either", async () => {
  const proof = await anna.prove(gate);
  const own = { principal: "agent", thumbprints: [passkeyThumbprint(anna.passkey.publicKey)] };
  await expect(check(proof, { requester: own })).rejects.toMatchObject({ code: "self_approval" });
  const same = { principal: "anna", thumbprints: [] };
  await expect(check(proof, { requester: same })).rejects.toMatchObject({ code: "self_approval" });
});

test("a passkey of nobody we know is none", async () => {
  const mallory = softPasskey();
  // The same credential id, another key.
  await expect(check(await mallory.prove(gate))).rejects.toThrow(bad("signature"));
  await expect(check(await anna.prove(gate), {}, [])).rejects.toThrow(bad("no enrolled approver"));
  await expect(
    check(
      await anna.prove(gate),
      {},
      anchorKeys([{ kind: "key", name: "anna", jwk: anna.passkey.publicKey }]),
    ),
  ).rejects.toThrow(bad("no enrolled approver"));
});

test("its count goes on, is kept, and what does not go on is refused", async () => {
  const kept: [string, number][] = [];
  const keys = keysOf(
    { ...anna.passkey, counter: 4 },
    async (name, counter) => void kept.push([name, counter]),
  );
  await expect(check(await anna.prove(gate, { counter: 4 }), {}, keys)).rejects.toThrow(bad());
  await check(await anna.prove(gate, { counter: 9 }), {}, keys);
  await expect(check(await anna.prove(gate, { counter: 9 }), {}, keys)).rejects.toThrow(
    bad("counter did not go up"),
  );
  await expect(check(await anna.prove(gate, { counter: 0 }), {}, keys)).rejects.toThrow(bad());
  expect(kept).toEqual([["anna", 9]]);
});

test("a passkey that does not count is taken again and again", async () => {
  const keys = keysOf(anna.passkey);
  const proof = await anna.prove(gate, { counter: 0 });
  await check(proof, {}, keys);
  expect(await check(proof, {}, keys)).toMatchObject({ by: "anna" });
});

test.each(["EC", "OKP", "RSA"] as const)("a key (%s) is the same in both forms", async (kty) => {
  const { decodeCredentialPublicKey } = await import("@simplewebauthn/server/helpers");
  const { publicKey } = readPasskey(softPasskey(kty).passkey);
  expect(jwkOfCose(decodeCredentialPublicKey(coseOf(publicKey)))).toEqual(publicKey);
});

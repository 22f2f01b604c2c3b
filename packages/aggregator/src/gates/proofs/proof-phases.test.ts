// What was signed about a call is nothing about its result, and the other way round, whoever signs and however.
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import type { PublicJwk } from "@mcpx/host";
import { type GateTerms, statementOf } from "@mcpx/protocol";
import { SignJWT } from "jose";
import { expect, test } from "vitest";
import { softPasskey } from "../testing/soft-passkey.ts";
import { anchorKeys } from "./anchors.ts";
import { checkProof } from "./proofs.ts";

const call: GateTerms = {
  confirmation_id: "c-1",
  aggregator_id: "a1",
  route: ["files", "read"],
  tool: "files.read",
  arguments_digest: `sha256:${"A".repeat(43)}`,
  nonce: "n".repeat(43),
  expires_at: 1_893_456_300,
};
const result: GateTerms = { ...call, phase: "result", result_digest: `sha256:${"B".repeat(43)}` };
const other: GateTerms = { ...result, result_digest: `sha256:${"C".repeat(43)}` };

const nowS = call.expires_at - 200;
const pair = generateKeyPairSync("ed25519");
const jwk = pair.publicKey.export({ format: "jwk" }) as PublicJwk;
const passkey = softPasskey();
const keys = anchorKeys([
  { kind: "key", name: "anna", jwk },
  { kind: "policy", name: "opa", jwk },
  { kind: "service", issuer: "https://approve.example", jwks: { keys: [jwk] } },
  { kind: "passkey", name: "ben", ...passkey.passkey },
]);

const sign = (typ: string, payload: object, key: KeyObject = pair.privateKey) =>
  new SignJWT({ ...payload }).setProtectedHeader({ alg: "EdDSA", typ }).sign(key);
const phaseOf = ({ phase, result_digest }: GateTerms) => ({ phase, result_digest });
const idsOf = ({ confirmation_id, arguments_digest }: GateTerms) => ({ confirmation_id, arguments_digest });

const makers: [string, (terms: GateTerms) => Promise<string>][] = [
  ["a key", (terms) => sign("mcpx-proof+jwt", statementOf(terms, "approve"))],
  [
    "a policy engine",
    (terms) =>
      sign("mcpx-policy+jwt", {
        ...idsOf(terms),
        ...phaseOf(terms),
        nonce: terms.nonce,
        decision: "approve",
        exp: nowS + 30,
      }),
  ],
  [
    "a service",
    (terms) =>
      sign("mcpx-approval+jwt", {
        ...idsOf(terms),
        ...phaseOf(terms),
        iss: "https://approve.example",
        aud: terms.aggregator_id,
        exp: nowS + 30,
        jti: "j",
      }),
  ],
  ["a passkey", (terms) => passkey.prove(terms, { counter: 0 })],
];

const check = (proof: string, terms: GateTerms) =>
  checkProof(proof, terms, keys, { requester: { principal: "agent", thumbprints: [] }, now: nowS * 1_000 });

test.each(makers)("[AX-11.3-2] by %s: each counts for its own phase and result only", async (_who, make) => {
  const phases = [call, result, other];
  for (const signed of phases) {
    const proof = await make(signed);
    for (const asked of phases) {
      if (asked === signed)
        expect((await check(proof, asked)).statement).toEqual(statementOf(asked, "approve"));
      else await expect(check(proof, asked)).rejects.toMatchObject({ code: "bad_proof" });
    }
  }
});

test("[AX-11.3-2] the same decision of the same key about both is two proofs", async () => {
  const [, make] = makers[0] as (typeof makers)[number];
  const first = await check(await make(call), call);
  expect((await check(await make(result), result)).proofHash).not.toBe(first.proofHash);
});

test.each([
  { phase: "result" },
  { result_digest: result.result_digest },
  { ...phaseOf(result), phase: "call" },
])("[AX-11.3-2] half of a phase is none: %o", async (more) => {
  const proof = await sign("mcpx-proof+jwt", { ...statementOf(call, "approve"), ...more });
  for (const terms of [call, result]) {
    await expect(check(proof, terms)).rejects.toMatchObject({ code: "bad_proof" });
  }
});

import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { type PublicJwk, thumbprint } from "@mcpx/host";
import { type GateTerms, type JsonObject, statementOf } from "@mcpx/protocol";
import { describe, expect, test } from "vitest";
import { type Anchor, anchorKeys } from "./anchors.ts";
import { checkProof, type ProofQuestion } from "./proofs.ts";

interface Signer {
  jwk: PublicJwk;
  alg: "EdDSA" | "ES256";
  privateKey: KeyObject;
}

const signerOf = (pair: { publicKey: KeyObject; privateKey: KeyObject }, alg: Signer["alg"]): Signer => ({
  jwk: pair.publicKey.export({ format: "jwk" }) as PublicJwk,
  privateKey: pair.privateKey,
  alg,
});
const ed25519 = () => signerOf(generateKeyPairSync("ed25519"), "EdDSA");
const p256 = () => signerOf(generateKeyPairSync("ec", { namedCurve: "P-256" }), "ES256");

const alice = ed25519();
const bob = p256();
const engine = ed25519();
const service = p256();
const mallory = ed25519();

const anchors: Anchor[] = [
  { kind: "key", name: "alice", jwk: alice.jwk },
  { kind: "key", name: "bob", jwk: bob.jwk },
  { kind: "policy", name: "opa", jwks: { keys: [{ ...engine.jwk, kid: "engine-1", use: "sig" }] } },
  { kind: "service", issuer: "https://approve.example", jwks: { keys: [{ ...service.jwk, kid: "s1" }] } },
];
const keys = anchorKeys(anchors);

const gate: GateTerms = {
  confirmation_id: "c-1",
  aggregator_id: "7f0c2a34-0000-4000-8000-000000000001",
  route: ["plant", "files", "delete"],
  tool: "files.delete",
  arguments_digest: `sha256:${"A".repeat(43)}`,
  nonce: "n".repeat(43),
  expires_at: 1_893_456_300,
};
const nowS = gate.expires_at - 200;
const now = nowS * 1_000;

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");

function signed(
  { alg, privateKey, jwk }: Signer,
  typ: string,
  payload: unknown,
  header: object = {},
): string {
  const input = `${part({ alg, typ, kid: thumbprint(jwk), ...header })}.${part(payload)}`;
  const key = { key: privateKey, dsaEncoding: "ieee-p1363" } as const;
  const signature = sign(alg === "EdDSA" ? null : "sha256", Buffer.from(input), key);
  return `${input}.${signature.toString("base64url")}`;
}

const statement = statementOf(gate, "approve");
const operators = (more: object = {}, signer = alice, header: object = {}) =>
  signed(signer, "mcpx-proof+jwt", { ...statement, ...more }, header);

const policy = {
  nonce: gate.nonce,
  confirmation_id: gate.confirmation_id,
  arguments_digest: gate.arguments_digest,
  decision: "approve",
  exp: nowS + 30,
};
const engines = (more: object = {}, signer = engine, header: object = {}) =>
  signed(signer, "mcpx-policy+jwt", { ...policy, ...more }, header);

const approval = {
  iss: "https://approve.example",
  aud: gate.aggregator_id,
  confirmation_id: gate.confirmation_id,
  arguments_digest: gate.arguments_digest,
  exp: nowS + 30,
  jti: "j-1",
};
const services = (more: object = {}, signer = service, header: object = {}) =>
  signed(signer, "mcpx-approval+jwt", { ...approval, ...more }, header);

const requester = { principal: "agent", thumbprints: [thumbprint(mallory.jwk)] };
const check = (proof: unknown, more: Partial<ProofQuestion> = {}, terms = gate, known = keys) =>
  checkProof(proof, terms, known, { requester, now, ...more });
const refused = (code: string, detail = "") =>
  expect.objectContaining({ code, detail: expect.stringContaining(detail) });
const bad = (detail = "") => refused("bad_proof", detail);

/** Members that are undefined are not in JSON. */
const without = (field: string) => ({ [field]: undefined });

describe("an operator's signature", () => {
  test.each([
    ["alice", alice],
    ["bob", bob],
  ])("[AX-11.3-2] of %s over this statement holds", async (name, signer) => {
    expect(await check(operators({}, signer))).toEqual({
      by: name,
      isPress: false,
      thumbprint: thumbprint(signer.jwk),
      statement,
      proofHash: expect.stringMatching(/^[\w-]{43}$/),
    });
  });

  test("[AX-11.3-2] may reject, and says why", async () => {
    const proof = operators({ decision: "reject", reason: "no ß" });
    expect((await check(proof)).statement).toEqual(statementOf(gate, "reject", "no ß"));
  });

  test("[AX-11.3-2] needs no kid where few keys are known, and has to where many are", async () => {
    const unnamed = operators({}, alice, without("kid"));
    expect(await check(unnamed)).toMatchObject({ by: "alice" });
    const many = anchorKeys([
      ...Array.from({ length: 8 }, (_, i) => ({ kind: "key", name: `k${i}`, jwk: ed25519().jwk }) as const),
      { kind: "key", name: "alice", jwk: alice.jwk },
    ]);
    await expect(check(unnamed, {}, gate, many)).rejects.toThrow(bad("kid"));
    expect(await check(operators(), {}, gate, many)).toMatchObject({ by: "alice" });
  });

  test.each<[string, object]>([
    ["confirmation_id", { confirmation_id: "c-2" }],
    ["aggregator_id", { aggregator_id: "7f0c2a34-0000-4000-8000-000000000002" }],
    ["route", { route: ["plant", "files"] }],
    ["route", { route: ["plant", "files", "delete", "x"] }],
    ["route", { route: ["plant.files", "delete"] }],
    ["tool", { tool: "files.read" }],
    ["arguments_digest", { arguments_digest: `sha256:${"B".repeat(43)}` }],
    ["nonce", { nonce: "m".repeat(43) }],
    ["expires_at", { expires_at: gate.expires_at + 1 }],
  ])("[AX-11.3-2] for another %s does not hold", async (field, more) => {
    await expect(check(operators(more))).rejects.toThrow(bad(`another call: ${field} differs`));
  });

  test.each(Object.keys(statement))("[AX-11.3-2] without %s does not hold", async (field) => {
    await expect(check(operators(without(field)))).rejects.toThrow(bad(field));
  });

  test("with a condition nobody here knows does not hold", async () => {
    await expect(check(operators({ only_if: "it rains" }))).rejects.toThrow(bad("not known"));
  });

  test("[AX-11.3-2] may come a little late by the clock, and not later", async () => {
    const end = gate.expires_at * 1_000;
    expect(await check(operators(), { now: end + 59_999 })).toMatchObject({ by: "alice" });
    await expect(check(operators(), { now: end + 60_000 })).rejects.toThrow(refused("confirmation_expired"));
  });

  test("[AX-11.3-2] one key's one statement is one proof, however it is spelled", async () => {
    const first = await check(operators({}, bob));
    const again = await check(operators({}, bob, { note: "x" }));
    expect(operators({}, bob)).not.toBe(operators({}, bob, { note: "x" }));
    expect(again.proofHash).toBe(first.proofHash);
    const others = [operators(), operators({ decision: "reject" }, bob), operators({ reason: "x" }, bob)];
    const hashes = await Promise.all(others.map(async (proof) => (await check(proof)).proofHash));
    expect(new Set([first.proofHash, ...hashes]).size).toBe(4);
  });
});

describe("a policy engine's signed nonce", () => {
  test.each(["approve", "reject"] as const)("[AX-11.3-2] decides: %s", async (decision) => {
    expect(await check(engines({ decision }))).toMatchObject({
      by: "opa",
      thumbprint: thumbprint(engine.jwk),
      statement: statementOf(gate, decision),
    });
    expect(await check(engines({ decision }, engine, { kid: "engine-1" }))).toMatchObject({ by: "opa" });
  });

  test.each<[string, object]>([
    ["nonce", { nonce: "m".repeat(43) }],
    ["nonce", without("nonce")],
    ["nonce", { nonce: [gate.nonce] }],
    ["confirmation_id", { confirmation_id: "c-2" }],
    ["arguments_digest", { arguments_digest: `sha256:${"B".repeat(43)}` }],
    ["arguments_digest", without("arguments_digest")],
    ["decision", { decision: "allow" }],
    ["decision", without("decision")],
    ["exp", without("exp")],
    ["exp", { exp: String(nowS + 30) }],
    ["exp", { exp: null }],
    ["expired", { exp: nowS - 60 }],
    ["iat", { iat: nowS + 61 }],
    ["nbf", { nbf: nowS + 61 }],
    ["nbf", { nbf: "now" }],
  ])("[AX-11.3-2] with another %s does not hold: %o", async (detail, more) => {
    await expect(check(engines(more))).rejects.toThrow(bad(detail));
  });

  test("[AX-11.3-2] clocks may differ by a minute", async () => {
    expect(await check(engines({ exp: nowS - 59, iat: nowS + 60, nbf: nowS + 60 }))).toMatchObject({
      by: "opa",
    });
  });
});

describe("a service's approval token", () => {
  test("[AX-11.3-2] approves, and rejects only where it says so", async () => {
    expect(await check(services())).toMatchObject({
      by: "https://approve.example",
      thumbprint: thumbprint(service.jwk),
      statement,
    });
    expect(await check(services({ decision: "reject" }, service, { kid: "s1" }))).toMatchObject({
      statement: { decision: "reject" },
    });
  });

  test.each<[string, object]>([
    ["no enrolled approver", { iss: "https://approve.example/" }],
    ["no enrolled approver", without("iss")],
    ["aud", { aud: "7f0c2a34-0000-4000-8000-000000000002" }],
    ["aud", { aud: [gate.aggregator_id] }],
    ["aud", without("aud")],
    ["confirmation_id", { confirmation_id: "c-2" }],
    ["arguments_digest", without("arguments_digest")],
    ["jti", without("jti")],
    ["jti", { jti: "j".repeat(129) }],
    ["exp", without("exp")],
    ["expired", { exp: nowS - 60 }],
    ["decision", { decision: null }],
  ])("[AX-11.3-2] with another %s does not hold: %o", async (detail, more) => {
    await expect(check(services(more))).rejects.toThrow(bad(detail));
  });
});

describe("what is no proof", () => {
  test("[AX-11.3-6] the signature of a stranger, whatever it says of itself", async () => {
    const claims = [
      {},
      { kid: thumbprint(alice.jwk) },
      { jwk: mallory.jwk },
      { kid: thumbprint(alice.jwk), jwk: mallory.jwk },
      { jku: "https://mallory.example/jwks.json" },
      { x5u: "https://mallory.example/cert" },
      { x5c: ["MIIB"] },
      { crit: ["b64"], b64: false },
    ];
    for (const header of claims) {
      await expect(check(operators({}, mallory, header)), JSON.stringify(header)).rejects.toThrow(bad());
    }
  });

  test("a header that brings a key, even where the signature is good", async () => {
    for (const header of [{ jwk: alice.jwk }, { jku: "https://x.example" }, { crit: [] }]) {
      await expect(check(operators({}, alice, header))).rejects.toThrow(bad("header"));
    }
  });

  test("no signature, or one made of what everybody knows", async () => {
    const head = (alg: string) => part({ alg, typ: "mcpx-proof+jwt", kid: thumbprint(alice.jwk) });
    const none = `${head("none")}.${part(statement)}.AAAA`;
    await expect(check(none)).rejects.toThrow(bad("no enrolled approver"));
    await expect(check(`${head("none")}.${part(statement)}.`)).rejects.toThrow(bad("compact"));
    const input = `${head("HS256")}.${part(statement)}`;
    const secrets = [alice.jwk.x, JSON.stringify(alice.jwk), Buffer.from(alice.jwk.x, "base64url")];
    for (const secret of secrets) {
      const mac = createHmac("sha256", secret).update(input).digest("base64url");
      await expect(check(`${input}.${mac}`)).rejects.toThrow(bad("no enrolled approver"));
    }
    await expect(check(operators({}, alice, { alg: "ES256" }))).rejects.toThrow(bad("no enrolled approver"));
    await expect(check(operators({}, alice, { alg: "Ed25519" }))).rejects.toThrow(
      bad("no enrolled approver"),
    );
  });

  test("one kind shown as another, or a token shown as a proof", async () => {
    for (const typ of ["mcpx-policy+jwt", "mcpx-approval+jwt"]) {
      await expect(check(signed(alice, typ, statement))).rejects.toThrow(bad("no enrolled approver"));
    }
    const types = [
      "mcpx+jwt",
      "JWT",
      "MCPX-PROOF+JWT",
      "application/mcpx-proof+jwt",
      "",
      null,
      ["mcpx-proof+jwt"],
    ];
    for (const typ of types) {
      await expect(check(operators({}, alice, { typ }))).rejects.toThrow(bad("type"));
    }
    await expect(check(operators({}, engine))).rejects.toThrow(bad("no enrolled approver"));
    await expect(check(engines({}, alice))).rejects.toThrow(bad("no enrolled approver"));
    await expect(check(services({}, engine))).rejects.toThrow(bad("no enrolled approver"));
  });

  test("a text that was touched, anywhere", async () => {
    const proof = operators({}, bob);
    const [head = "", body = "", signature = ""] = proof.split(".");
    const rejected = part(statementOf(gate, "reject"));
    await expect(check(`${head}.${rejected}.${signature}`)).rejects.toThrow(bad("signature"));
    const flipped = `${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`;
    await expect(check(`${head}.${body}.${flipped}`)).rejects.toThrow(bad("signature"));
    await expect(check(`${head}.${body}.${signature.slice(0, 40)}`)).rejects.toThrow(bad());
    for (const spelled of [
      `${proof}=`,
      ` ${proof}`,
      `${proof}\n`,
      proof.replaceAll(".", ".."),
      `${proof}.x`,
    ]) {
      await expect(check(spelled)).rejects.toThrow(bad("compact"));
    }
  });

  test.each<[string, unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["an object", { proof: operators() }],
    ["a list", [operators()]],
    ["no text at all", ""],
    ["dots", ".."],
    ["what is not JSON", `${Buffer.from("x").toString("base64url")}.e30.AAAA`],
    ["a list in JSON", `${part([])}.${part({})}.AAAA`],
    ["null in JSON", `${part(null)}.${part(null)}.AAAA`],
    ["bad UTF-8", `${Buffer.from([0xff, 0xfe]).toString("base64url")}.e30.AAAA`],
    ["a very long text", "A".repeat(16_385)],
  ])("%s", async (_title, proof) => {
    await expect(check(proof)).rejects.toThrow(bad());
  });

  test("anything, where nobody is trusted", async () => {
    await expect(check(operators(), {}, gate, [])).rejects.toThrow(bad("no enrolled approver"));
  });
});

describe("whoever asks does not decide", () => {
  test("[AX-11.3-6] the requester's key is refused, even where it is an anchor", async () => {
    const own = { principal: "agent", thumbprints: ["other", thumbprint(alice.jwk)] };
    await expect(check(operators(), { requester: own })).rejects.toThrow(refused("self_approval"));
    expect(await check(operators({}, bob), { requester: own })).toMatchObject({ by: "bob" });
    const machine = { principal: "agent", thumbprints: [thumbprint(engine.jwk), thumbprint(service.jwk)] };
    await expect(check(engines(), { requester: machine })).rejects.toThrow(refused("self_approval"));
    await expect(check(services(), { requester: machine })).rejects.toThrow(refused("self_approval"));
  });

  test("[AX-11.3-6] nor does another key under the requester's name", async () => {
    const own = { principal: "alice", thumbprints: [] };
    await expect(check(operators(), { requester: own })).rejects.toThrow(refused("self_approval"));
    await expect(check(services({ sub: "alice" }), { requester: own })).rejects.toThrow(
      refused("self_approval"),
    );
    expect(await check(services({ sub: "bob" }), { requester: own })).toMatchObject({ statement });
  });

  test("[AX-11.3-6] a rejection of one's own is none either", async () => {
    const own = { principal: "alice", thumbprints: [] };
    const proof = operators({ decision: "reject" });
    await expect(check(proof, { requester: own })).rejects.toThrow(refused("self_approval"));
  });

  test("a caller without a name has keys all the same", async () => {
    const nameless = { principal: undefined, thumbprints: [thumbprint(bob.jwk)] };
    await expect(check(operators({}, bob), { requester: nameless })).rejects.toThrow(
      refused("self_approval"),
    );
    expect(await check(operators(), { requester: nameless })).toMatchObject({ by: "alice" });
  });
});

describe("trust anchors", () => {
  test.each<[string, JsonObject]>([
    ["a private key", alice.privateKey.export({ format: "jwk" }) as JsonObject],
    ["a secret", { kty: "oct", k: "AAAA" }],
    ["an RSA key", { kty: "RSA", n: "AQAB", e: "AQAB" }],
    ["a point off the curve", { kty: "EC", crv: "P-256", x: "A".repeat(43), y: "A".repeat(43) }],
    ["a key for encryption", { ...alice.jwk, use: "enc" }],
    ["nothing", {}],
  ])("%s is none", (_title, jwk) => {
    expect(() => anchorKeys([{ kind: "key", name: "alice", jwk }])).toThrow("alice has no public");
  });

  test("a key set's other keys are left out", () => {
    const jwks = {
      keys: [
        { kty: "RSA", n: "AQAB", e: "AQAB" },
        { ...engine.jwk, kid: "e" },
      ],
    };
    expect(anchorKeys([{ kind: "policy", name: "opa", jwks }])).toMatchObject([{ name: "opa", kid: "e" }]);
    expect(() => anchorKeys([{ kind: "policy", name: "opa" }])).toThrow("opa has no public");
  });
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isMcpxError } from "../errors.ts";
import { canonicalJson, digestOf } from "../json/canonical-json.ts";
import type { AccessKey, Ed25519Jwk } from "./access-key.ts";
import { fromBase64url, toBase64url } from "./base64url.ts";
import { type CapabilityClaims, capabilityType, signCapability } from "./capability-token.ts";
import { signCompact } from "./compact-jws.ts";
import { checkNarrower } from "./delegation.ts";
import { type ProvenCall, proofType, signProof } from "./proof.ts";
import { type PresentedCall, type Verification, VerifiedTokens, verifyCall } from "./verify-call.ts";

async function newKey(): Promise<AccessKey> {
  const pair = await crypto.subtle.generateKey("Ed25519", true, ["sign", "verify"]);
  const { privateKey, publicKey } = pair as Exclude<typeof pair, { algorithm: unknown }>;
  const { x } = await crypto.subtle.exportKey("jwk", publicKey);
  return {
    jwk: { kty: "OKP", crv: "Ed25519", x: x as string },
    sign: async (bytes) => new Uint8Array(await crypto.subtle.sign("Ed25519", privateKey, bytes)),
  };
}

const [owner, ann, bob, mallory] = await Promise.all([newKey(), newKey(), newKey(), newKey()]);
const nowMs = Date.parse("2026-11-16T12:00:00Z");
const now = nowMs / 1_000;
const timestamp = new Date(nowMs).toISOString();
const nonce = "n".repeat(22);

const claimsOf = (more: Partial<CapabilityClaims> = {}): CapabilityClaims => ({
  jti: "c1",
  iss: "oven",
  holder: "ann",
  topic: "kitchen",
  cnf: { jwk: ann.jwk },
  tools: ["heat"],
  iat: now,
  nbf: now,
  exp: now + 3_600,
  ...more,
});
const good = await signCapability(owner, claimsOf());
const root = claimsOf({ delegations: 2, maxUses: 5, tools: ["heat", "look"] });
const rootText = await signCapability(owner, root);
const provenOf = (more: Partial<ProvenCall> = {}): ProvenCall => ({
  capability: "c1",
  tool: "heat",
  arguments: { degrees: 180 },
  topic: "kitchen",
  target: "oven",
  request: 7,
  ...more,
});
const proofBy = (key: AccessKey, more: Partial<ProvenCall> = {}, at = timestamp) =>
  signProof(key, provenOf(more), { timestamp: at, nonce });

async function presented(more: Partial<PresentedCall> = {}): Promise<PresentedCall> {
  return {
    capability: await signCapability(owner, claimsOf()),
    proof: await proofBy(ann),
    holder: "ann",
    holderKey: ann.jwk,
    owner: "oven",
    tool: "heat",
    arguments: { degrees: 180 },
    topic: "kitchen",
    request: 7,
    ...more,
  };
}

const verification = (more: Partial<Verification> = {}): Verification => ({
  ownerKey: owner.jwk,
  nowMs,
  provenAtMs: nowMs,
  skewMs: 0,
  channelOf: () => undefined,
  verified: new VerifiedTokens(),
  ...more,
});

async function outcome(call: PresentedCall, more: Partial<Verification> = {}): Promise<string> {
  try {
    await verifyCall(call, verification(more));
    return "passes";
  } catch (error) {
    if (isMcpxError(error)) return error.code;
    throw error;
  }
}

const tokenOf = async (more: Partial<CapabilityClaims>, key = owner) =>
  presented({ capability: await signCapability(key, claimsOf(more)) });

test("[AC-8-1] the holder's own call passes, warm and cold", async () => {
  const verified = new VerifiedTokens();
  expect(await outcome(await presented(), { verified })).toBe("passes");
  expect(await outcome(await presented(), { verified })).toBe("passes");
});

describe("[AC-7-1] the id, issuer, holder and tools of a capability", () => {
  test("are what the verifier is told", async () => {
    const { chain } = await verifyCall(await presented(), verification());
    expect(chain).toEqual([claimsOf()]);
  });

  test("count: tools by name, or all of them", async () => {
    expect(await outcome(await tokenOf({ tools: ["look", "heat"] }))).toBe("passes");
    expect(await outcome(await tokenOf({ tools: ["look"] }))).toBe("tool_not_covered");
    expect(await outcome(await tokenOf({ tools: "*" }))).toBe("passes");
  });

  test.each(["jti", "iss", "holder", "tools"])("%s cannot be left out", async (field) => {
    const { [field as "jti"]: _, ...claims } = claimsOf();
    const capability = await signCompact(owner, capabilityType, JSON.stringify(claims));
    expect(await outcome(await presented({ capability }))).toBe("malformed");
  });
});

describe("[AC-5-1] capabilities that are none", () => {
  test("missing", async () => {
    expect(await outcome(await presented({ capability: undefined }))).toBe("missing");
  });

  const part = (value: unknown) => toBase64url(new TextEncoder().encode(JSON.stringify(value)));
  const [, body = "", signature = ""] = good.split(".");
  const head = (header: unknown) => `${part(header)}.${body}.${signature}`;

  test.each<[string, unknown]>([
    ["a number", 1],
    ["null", null],
    ["an object no text can be made of", { toString: null }],
    ["a list with such an object", [{ toString: null }]],
    ["no JWS", "cap_2024_abc123def456"],
    ["too long", "a".repeat(20_000)],
    ["alg none", `${part({ alg: "none", typ: capabilityType })}.${body}.`],
    ["alg HS256", head({ alg: "HS256", typ: capabilityType })],
    ["alg in another case", head({ alg: "eddsa", typ: capabilityType })],
    ["a key named by the token", head({ alg: "EdDSA", typ: capabilityType, jwk: mallory.jwk })],
    ["crit", head({ alg: "EdDSA", typ: capabilityType, crit: ["b64"], b64: false })],
    ["a room token's type", head({ alg: "EdDSA", typ: "mcpx+jwt" })],
    ["a proof's type", head({ alg: "EdDSA", typ: proofType })],
    ["four parts", `${good}.x`],
    [
      "another spelling of the same bytes",
      good.slice(0, -1) + (good.endsWith("A") ? "B" : `${good.at(-1)}=`),
    ],
  ])("malformed: %s", async (_, capability) => {
    expect(await outcome(await presented({ capability }))).toBe("malformed");
  });

  test.each<[string, object]>([
    ["no jti", { jti: undefined }],
    ["no exp", { exp: undefined }],
    ["a text for exp", { exp: "9999999999" }],
    ["a negative nbf", { nbf: -1 }],
    ["no key", { cnf: {} }],
    ["a private key", { cnf: { jwk: { ...ann.jwk, d: "x" } } }],
    ["no tools", { tools: [] }],
    ["a glob is a name, a list is needed", { tools: "heat" }],
    ["no uses", { maxUses: 0 }],
    ["half a use", { maxUses: 0.5 }],
    ["arguments that are no schema", { arguments: "any" }],
    ["a holder with spaces", { holder: "an n" }],
  ])("malformed claims: %s", async (_, more) => {
    const text = JSON.stringify({ ...claimsOf(), ...more });
    const capability = await signCompact(owner, capabilityType, text);
    expect(await outcome(await presented({ capability }))).toBe("malformed");
  });

  test("another token of the owner's key is no capability", async () => {
    const capability = await signCompact(owner, "mcpx+jwt", JSON.stringify(claimsOf()));
    expect(await outcome(await presented({ capability }))).toBe("malformed");
  });

  test("bad_signature: signed by the holder itself, or changed afterwards", async () => {
    expect(await outcome(await tokenOf({}, ann))).toBe("bad_signature");
    const wider = part({ ...claimsOf(), tools: "*" });
    const capability = good.replace(body, wider);
    expect(await outcome(await presented({ capability }))).toBe("bad_signature");
  });

  test("wrong_issuer: mallory gives away the oven's tools", async () => {
    expect(await outcome(await tokenOf({ iss: "mallory" }, mallory))).toBe("wrong_issuer");
  });
});

test("wrong_topic: a capability of another room", async () => {
  expect(await outcome(await tokenOf({ topic: "cellar" }))).toBe("wrong_topic");
});

test("[AC-5-2] [AC-7-3] expired and not_yet_valid, to the second", async () => {
  const call = await presented();
  const at = (ms: number) => ({ nowMs: nowMs + ms, provenAtMs: nowMs });
  expect(await outcome(call, at(3_599_999))).toBe("passes");
  expect(await outcome(call, at(3_600_000))).toBe("expired");
  expect(await outcome(call, at(-1))).toBe("not_yet_valid");
  expect(await outcome(call, { ...at(-60_000), skewMs: 60_000 })).toBe("passes");
  expect(await outcome(call, { ...at(-60_001), skewMs: 60_000 })).toBe("not_yet_valid");
});

test("[AC-5-3] tool_not_covered and arguments_refused", async () => {
  expect(await outcome(await presented({ tool: "clean" }))).toBe("tool_not_covered");
  const schema = { properties: { degrees: { maximum: 100 } } };
  expect(await outcome(await tokenOf({ arguments: schema }))).toBe("arguments_refused");
  const call = await tokenOf({ arguments: { pattern: "(a+)+" } });
  expect(await outcome(call)).toBe("arguments_refused");
  expect(await outcome(call, { judgeArguments: () => undefined })).toBe("passes");
});

test("[AC-5-3] [AC-5-6] arguments are judged for who has signed the call, and for nobody else", async () => {
  let judged = 0;
  const judgeArguments = () => {
    judged += 1;
    return undefined;
  };
  const call = await tokenOf({ arguments: { type: "object" } });
  const forged = { ...call, proof: await proofBy(mallory) };
  expect(await outcome(forged, { judgeArguments })).toBe("proof_invalid");
  expect(await outcome({ ...call, proof: undefined }, { judgeArguments })).toBe("proof_missing");
  expect(judged).toBe(0);
  expect(await outcome(call, { judgeArguments })).toBe("passes");
  expect(judged).toBe(1);
});

test("[AC-5-4] [AC-9-9] wrong_holder: another name, another key, no key", async () => {
  expect(await outcome(await presented({ holder: "mallory", holderKey: mallory.jwk }))).toBe("wrong_holder");
  expect(await outcome(await presented({ holder: "mallory" }))).toBe("wrong_holder");
  expect(await outcome(await presented({ holderKey: mallory.jwk }))).toBe("wrong_holder");
  expect(await outcome(await presented({ holderKey: undefined }))).toBe("wrong_holder");
});

test("[AC-5-4] [AC-8-4] [AC-8-7] wrong_channel: the connection is another", async () => {
  const call = {
    ...(await tokenOf({ channel: "conn-1" })),
    proof: await proofBy(ann, { channel: "conn-1" }),
  };
  expect(await outcome(call, { channelOf: () => "conn-1" })).toBe("passes");
  expect(await outcome(call, { channelOf: () => "conn-2" })).toBe("wrong_channel");
  expect(await outcome(call)).toBe("wrong_channel");
});

describe("[AC-5-6] [AC-8-1] proofs", () => {
  test("proof_missing", async () => {
    expect(await outcome(await presented({ proof: undefined }))).toBe("proof_missing");
  });

  test.each<[string, Partial<ProvenCall>]>([
    ["another capability", { capability: "c2" }],
    ["another tool", { tool: "look" }],
    ["other arguments", { arguments: { degrees: 181 } }],
    ["another room", { topic: "cellar" }],
    ["another target", { target: "stove" }],
    ["another request", { request: 8 }],
    ["a request id of another type", { request: "7" }],
    ["a connection nobody asked for", { channel: "conn-1" }],
  ])("proof_invalid: over %s", async (_, more) => {
    expect(await outcome(await presented({ proof: await proofBy(ann, more) }))).toBe("proof_invalid");
  });

  test("proof_invalid: by another key", async () => {
    expect(await outcome(await presented({ proof: await proofBy(mallory) }))).toBe("proof_invalid");
  });

  test.each<[string, object]>([
    ["another time than was signed", { timestamp: new Date(nowMs + 1).toISOString() }],
    ["another nonce than was signed", { nonce: "m".repeat(22) }],
    ["a short nonce", { nonce: "n" }],
    ["no time", { timestamp: undefined }],
    ["no signature", { signature: undefined }],
    ["a long signature", { signature: "a".repeat(600) }],
    ["a signature that is none", { signature: "a.b.c" }],
  ])("proof_invalid: %s", async (_, more) => {
    expect(await outcome(await presented({ proof: { ...(await proofBy(ann)), ...more } }))).toBe(
      "proof_invalid",
    );
  });

  test("proof_invalid: a capability's type is no proof", async () => {
    const [header, , signature] = (await signCompact(ann, capabilityType, "{}")).split(".");
    const proof = { ...(await proofBy(ann)), signature: `${header}..${signature}` };
    expect(await outcome(await presented({ proof }))).toBe("proof_invalid");
  });

  test.each([-60_001, -60_000, 60_000, 60_001])("[AC-8-2] a clock that is %i ms off", async (ms) => {
    const proof = await proofBy(ann, {}, new Date(nowMs + ms).toISOString());
    const expected = Math.abs(ms) > 60_000 ? "proof_invalid" : "passes";
    expect(await outcome(await presented({ proof }))).toBe(expected);
  });

  test("the order of keys and the spelling of numbers do not matter to a proof", async () => {
    const proof = await proofBy(ann, { arguments: { b: 1e2, a: "x" } });
    const args = JSON.parse('{"a":"x","b":100.0}');
    expect(await outcome(await presented({ proof, arguments: args }))).toBe("passes");
  });
});

describe("[AC-9-2] delegation", () => {
  const childOf = (more: Partial<CapabilityClaims> = {}): CapabilityClaims => ({
    ...claimsOf({
      jti: "c2",
      iss: "ann",
      holder: "bob",
      cnf: { jwk: bob.jwk },
      maxUses: 5,
      parent: rootText,
    }),
    ...more,
  });
  const bobs = async (claims: CapabilityClaims, key = ann) =>
    presented({
      capability: await signCompact(key, capabilityType, JSON.stringify(claims)),
      proof: await proofBy(bob, { capability: "c2" }),
      holder: "bob",
      holderKey: bob.jwk,
    });

  test("what is narrower passes, and both count", async () => {
    const call = await bobs(childOf());
    expect(await outcome(call)).toBe("passes");
    const { chain } = await verifyCall(call, verification());
    expect(chain.map(({ jti }) => jti)).toEqual(["c2", "c1"]);
  });

  test.each<[string, Partial<CapabilityClaims>]>([
    ["more tools", { tools: ["heat", "clean"] }],
    ["all tools", { tools: "*" }],
    ["a later end", { exp: now + 3_601 }],
    ["an earlier beginning", { nbf: now - 1 }],
    ["more uses", { maxUses: 6 }],
    ["any number of uses", { maxUses: undefined as never }],
    ["another room", { topic: "cellar" }],
  ])("delegation_widened: %s", async (_, more) => {
    expect(await outcome(await bobs(childOf(more)))).toBe("delegation_widened");
  });

  test("delegation_widened: what was bound to one connection", async () => {
    const parent = await signCapability(owner, { ...root, channel: "conn-1" });
    expect(await outcome(await bobs(childOf({ parent })))).toBe("delegation_widened");
  });

  test("delegation_too_long: more often than allowed, or never allowed", async () => {
    expect(await outcome(await bobs(childOf({ delegations: 2 })))).toBe("delegation_too_long");
    const parent = await signCapability(owner, { ...root, delegations: 0 });
    expect(await outcome(await bobs(childOf({ parent })))).toBe("delegation_too_long");
  });

  test("delegation_too_long: a chain beyond all bounds, whatever its links say", async () => {
    let parent = await signCapability(owner, { ...root, delegations: 99 });
    for (let n = 0; n < 4; n += 1) {
      const link = { ...root, jti: `l${n}`, iss: "ann", delegations: 98 - n, parent };
      parent = await signCompact(ann, capabilityType, JSON.stringify(link));
    }
    expect(await outcome(await bobs(childOf({ parent })))).toBe("delegation_too_long");
  });

  test("wrong_issuer and bad_signature: passed on by somebody who does not hold it", async () => {
    expect(await outcome(await bobs(childOf({ iss: "mallory" }), mallory))).toBe("wrong_issuer");
    expect(await outcome(await bobs(childOf(), mallory))).toBe("bad_signature");
  });

  test("arguments must satisfy every link", async () => {
    const parent = await signCapability(owner, {
      ...root,
      arguments: { properties: { degrees: { maximum: 100 } } },
    });
    const call = await bobs(childOf({ parent, arguments: { properties: { degrees: { maximum: 900 } } } }));
    expect(await outcome(call)).toBe("arguments_refused");
  });

  test("expired: with what it was made from", async () => {
    const parent = await signCapability(owner, { ...root, exp: now + 1 });
    const call = await bobs(childOf({ parent, exp: now + 1 }));
    expect(await outcome(call)).toBe("passes");
    expect(await outcome(call, { nowMs: nowMs + 1_000 })).toBe("expired");
  });

  test("a law: what passes the check allows nothing its source does not", () => {
    const sets = fc.oneof(
      fc.constant("*" as const),
      fc.uniqueArray(fc.constantFrom("a", "b", "c"), { minLength: 1 }),
    );
    const limits = fc.record({
      tools: sets,
      nbf: fc.nat(5),
      exp: fc.nat(5),
      maxUses: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }),
      delegations: fc.nat(4),
    });
    fc.assert(
      fc.property(limits, limits, (source, child) => {
        const claims = (more: object, names: object) =>
          ({ ...claimsOf(), ...more, ...names }) as CapabilityClaims;
        try {
          checkNarrower(claims(child, { iss: "ann", holder: "bob" }), claims(source, {}));
        } catch (error) {
          if (isMcpxError(error)) return;
          throw error;
        }
        const has = (tools: "*" | string[], tool: string) => tools === "*" || tools.includes(tool);
        for (const tool of ["a", "b", "c", "d"]) {
          if (has(child.tools, tool)) expect(has(source.tools, tool)).toBe(true);
        }
        expect(child.nbf).toBeGreaterThanOrEqual(source.nbf);
        expect(child.exp).toBeLessThanOrEqual(source.exp);
        expect(child.maxUses ?? Number.POSITIVE_INFINITY).toBeLessThanOrEqual(
          source.maxUses ?? Number.POSITIVE_INFINITY,
        );
        expect(child.delegations).toBeLessThan(source.delegations);
      }),
    );
  });
});

describe("formats", () => {
  test("a proof is a detached JWS over the canonical text that the protocol page shows", async () => {
    const { signature } = await proofBy(ann);
    const [header = "", none, sig = ""] = signature.split(".");
    expect(JSON.parse(atob(header))).toEqual({ alg: "EdDSA", typ: "mcpx-call+jws" });
    expect(none).toBe("");
    const { capability, tool, topic, target, request } = provenOf();
    const digest = await digestOf({ degrees: 180 });
    const text = canonicalJson({
      capability,
      tool,
      arguments: digest,
      topic,
      target,
      request,
      timestamp,
      nonce,
    });
    const signed = new TextEncoder().encode(`${header}.${toBase64url(new TextEncoder().encode(text))}`);
    const { x, kty, crv }: Ed25519Jwk = ann.jwk;
    const key = await crypto.subtle.importKey("jwk", { kty, crv, x }, "Ed25519", false, ["verify"]);
    expect(await crypto.subtle.verify("Ed25519", key, fromBase64url(sig) as never, signed)).toBe(true);
  });

  test("base64url has one spelling", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
        const text = toBase64url(bytes);
        expect(Buffer.from(bytes).toString("base64url")).toBe(text);
        expect(fromBase64url(text)).toEqual(bytes);
      }),
    );
    for (const text of ["A", "AB", "AA==", "A+", "A A", "\u00e9"])
      expect(fromBase64url(text), text).toBeUndefined();
  });
});

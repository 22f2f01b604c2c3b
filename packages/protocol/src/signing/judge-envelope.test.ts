import { createPrivateKey, generateKeyPairSync, sign } from "node:crypto";
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AccessKey, readEd25519Jwk } from "../access/access-key.ts";
import { type ChainLink, signEnvelope } from "./envelope-signature.ts";
import { judgeEnvelope } from "./judge-envelope.ts";

const vectors = JSON.parse(
  readFileSync(new URL("../../../../spec/vectors/signatures.json", import.meta.url), "utf8"),
);

function keyOf(jwk: object): AccessKey {
  const { kty, crv, x } = jwk as { kty: "OKP"; crv: "Ed25519"; x: string };
  const key = createPrivateKey({ key: jwk as never, format: "jwk" });
  return { jwk: { kty, crv, x }, sign: async (bytes) => new Uint8Array(sign(null, bytes, key)) };
}

const newKey = () => keyOf(generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" }));
const alice = keyOf(vectors.private);
const topic = "room:kitchen";
const session = "c2Vzc2lvbi1vbmUtdHdv";
const judge = (
  text: string,
  keys = { alice: [alice.jwk] } as Record<string, (typeof alice.jwk)[]>,
  room = topic,
) => judgeEnvelope(text, { topic: room, keysOf: (participant) => keys[participant] ?? [] });

/** Everything that is signed, in a form that is easy to change. */
interface Parts {
  topic: string;
  fields: Record<string, unknown>;
  payloadText: string;
  signature: Record<string, unknown>;
}

async function signed(
  fields: Record<string, unknown> = {},
  payloadText = `{"text":"hello"}`,
  link: ChainLink = { session, n: 1 },
): Promise<Parts> {
  const head = {
    protocol: "mcpx/v0.1", id: "e1", ts: "2026-11-18T09:30:00.000Z", from: "alice", to: ["oven"], kind: "chat",
    correlation_id: "e0", ...fields,
  }; // biome-ignore format: one line reads best
  const { signature } = await signEnvelope(alice, { topic, payloadText, ...head }, link);
  return { topic, fields: head, payloadText, signature };
}

const written = ({ fields, payloadText, signature }: Parts) =>
  `${JSON.stringify(fields).slice(0, -1)},"payload":${payloadText},"signature":${JSON.stringify(signature)}}`;

describe("the vectors", () => {
  for (const { about, topic: room, text, state } of vectors.cases) {
    test(`[X0-9-7] ${state}: ${about}`, async () => {
      expect(await judge(text, vectors.keys, room)).toMatchObject({ state });
    });
  }
});

test("[X0-9-7] any single change of a signed field, of the payload's bytes or of the room is invalid", async () => {
  const id = fc.stringMatching(/^[a-z0-9:._-]{1,12}$/);
  const change = fc.oneof(
    fc.record({ field: fc.constantFrom("id", "from", "correlation_id", "kind"), value: id }),
    fc.record({ field: fc.constant("ts"), value: fc.constantFrom("2026-11-18T09:30:00Z", "2027-01-01T00:00:00Z") }),
    fc.record({ field: fc.constant("protocol"), value: fc.constant("mcp-x/v0") }),
    fc.record({ field: fc.constant("to"), value: fc.constantFrom([], ["alice"], ["oven", "bob"], ["OVEN"]) }),
    fc.record({ field: fc.constantFrom("correlation_id", "to", "ts", "from"), value: fc.constant(undefined) }),
    fc.record({ field: fc.constant("topic"), value: id }),
    fc.record({ field: fc.constant("n"), value: fc.integer({ min: 2, max: 99 }) }),
    fc.record({ field: fc.constant("session"), value: fc.stringMatching(/^[A-Za-z0-9_-]{16,64}$/) }),
    fc.record({ field: fc.constant("skipped"), value: fc.constantFrom([1], [2, 3]) }),
    fc.record({ field: fc.constant("key"), value: fc.constant(newKey().jwk.x) }),
    fc.record({ field: fc.constant("payload"), value: fc.nat() }),
  ); // biome-ignore format: one case a line
  const property = fc.asyncProperty(fc.json(), change, async (json, { field, value }) => {
    const before = await signed({}, `{"text":"hello","data":${json}}`, {
      session,
      n: 7,
      prev: "A".repeat(43),
    });
    expect((await judge(written(before))).state).toBe("valid");
    const after = structuredClone(before);
    let room = topic;
    if (field === "topic") room = String(value);
    else if (field === "payload") {
      // A blank behind any of the bytes that stand outside of strings, or a letter inside of one.
      const at = Number(value) % (before.payloadText.length - 1);
      const inString = JSON.parse(`[${before.payloadText}]`) && isInString(before.payloadText, at);
      after.payloadText = `${before.payloadText.slice(0, at + 1)}${inString ? "x" : " "}${before.payloadText.slice(at + 1)}`;
    } else if (["n", "session", "skipped", "key"].includes(field)) after.signature[field] = value;
    else if (value === undefined) delete after.fields[field];
    else after.fields[field] = value;
    fc.pre(JSON.stringify([after, room]) !== JSON.stringify([before, topic]));
    const keys = { alice: [alice.jwk], [String(value)]: [alice.jwk] };
    expect((await judge(written(after), keys, room)).state).toBe("invalid");
  });
  await fc.assert(property, { numRuns: 300 });
});

function isInString(text: string, at: number): boolean {
  let inside = false;
  for (let i = 0; i <= at; i += 1) {
    if (text[i] === "\\") i += 1;
    else if (text[i] === '"') inside = !inside;
  }
  return inside;
}

test("[X0-9-7] key order, white space outside of the payload and the gateway's fields change nothing", async () => {
  const blank = fc.constantFrom("", " ", "\n\t", "  \r\n");
  const property = fc.asyncProperty(
    fc.json(),
    fc.shuffledSubarray([0, 1, 2, 3, 4, 5, 6, 7, 8, 9], { minLength: 10 }),
    blank,
    async (json, order, space) => {
      const { fields, payloadText, signature } = await signed({}, `{"data":${json}}`);
      const all = [
        ...Object.entries(fields).map(([name, value]) => [name, JSON.stringify(value)]),
        ["payload", payloadText],
        ["signature", JSON.stringify(signature, null, 1)],
        ["seq", "12"],
      ];
      const members = order.map((at) => `${space}"${all[at]?.[0]}"${space}:${space}${all[at]?.[1]}${space}`);
      expect(await judge(`${space}{${members.join(",")}}${space}`)).toMatchObject({
        state: "valid",
        seq: 12,
      });
    },
  );
  await fc.assert(property, { numRuns: 100 });
});

test("[X0-9-7] a field of any other shape is invalid, and says why", async () => {
  const good = await signed({}, `{"text":"x"}`, { session, n: 3, prev: "A".repeat(43), skipped: [1] });
  expect((await judge(written(good))).state).toBe("valid");
  const { key, jws } = good.signature as { key: string; jws: string };
  const [header = "", , mark = ""] = jws.split(".");
  const none = Buffer.from(JSON.stringify({ alg: "none", typ: "mcpx-envelope+jws" })).toString("base64url");
  const call = Buffer.from(JSON.stringify({ alg: "EdDSA", typ: "mcpx-call+jws" })).toString("base64url");
  const bad: [string, unknown][] = [
    ["key", undefined], ["key", 7], ["key", `${key}=`], ["key", key.slice(1)], ["key", `${key}AAAA`],
    ["session", undefined], ["session", "short"], ["session", "x".repeat(65)], ["session", ["c2Vzc2lvbi1vbmUtdHdv"]],
    ["n", undefined], ["n", 0], ["n", -1], ["n", 1.5], ["n", "3"], ["n", 2 ** 53], ["n", 1],
    ["prev", undefined], ["prev", null], ["prev", "A".repeat(42)], ["prev", { toString: "A" }],
    ["skipped", []], ["skipped", [2, 1]], ["skipped", [1, 1]], ["skipped", [3]], ["skipped", ["1"]], ["skipped", 1],
    ["skipped", Array.from({ length: 65 }, (_, at) => at + 1)],
    ["jws", undefined], ["jws", "x".repeat(3_000)], ["jws", mark], ["jws", `${header}..`], ["jws", `..${mark}`],
    ["jws", `${none}..${mark}`], ["jws", `${call}..${mark}`], ["jws", `${header}.e30.${mark}`],
    ["jws", `${header}..${mark}=`], ["jws", `${header}..${mark}.`], ["jws", `${header}..${mark.slice(2)}`],
    ["more", "x"], ["__proto__x", "x"],
  ]; // biome-ignore format: a table
  for (const [name, value] of bad) {
    const text = written({ ...good, signature: { ...good.signature, [name]: value } });
    expect(await judge(text), `${name}: ${JSON.stringify(value)}`).toMatchObject({ state: "invalid" });
  }
  for (const value of [null, 7, "x", [], [good.signature], {}, true]) {
    const text = written({ ...good, signature: value as never });
    expect(await judge(text), JSON.stringify(value)).toMatchObject({ state: "invalid" });
  }
  const padded = written(good).replace('"signature":{', `"signature":{${" ".repeat(2_100)}`);
  expect(await judge(padded)).toMatchObject({ state: "invalid", detail: expect.stringContaining("2048") });
});

test("[X0-9-7] text that is no envelope is invalid, and takes no time", async () => {
  const deep = `${'{"a":'.repeat(100_000)}1${"}".repeat(100_000)}`;
  for (const text of ["", "null", "[]", '"x"', "{", "{}{}", deep]) {
    expect(await judge(text)).toMatchObject({ state: "invalid", id: "", from: "" });
  }
  expect(await judge('{"signature":{}}')).toMatchObject({ state: "invalid" });
});

test("[X0-9-7] presence that lists another key than the pinned one says key_changed; other notices are unsigned", async () => {
  const presence = (key?: object, id = "alice") =>
    JSON.stringify({
      protocol: "mcpx/v0.1", id: "p", ts: "2026-11-18T09:30:00.000Z", from: "system:gateway", kind: "presence",
      payload: { event: "join", participant: { id, ...(key && { key }) } },
    }); // biome-ignore format: one line reads best
  expect((await judge(presence(alice.jwk))).state).toBe("unsigned");
  expect((await judge(presence())).state).toBe("unsigned");
  expect((await judge(presence(newKey().jwk, "bob"))).state).toBe("unsigned");
  expect((await judge(presence(newKey().jwk))).state).toBe("key_changed");
  expect((await judge(presence({ kty: "EC", crv: "P-256", x: "a", y: "b" }))).state).toBe("key_changed");
});

test("[X0-9-7] keys of small order are no keys, in every spelling, with either sign", () => {
  const p = 2n ** 255n - 19n;
  const power = (base: bigint, exponent: bigint): bigint => {
    let result = 1n;
    let square = ((base % p) + p) % p;
    for (let rest = exponent; rest > 0n; rest >>= 1n) {
      if (rest & 1n) result = (result * square) % p;
      square = (square * square) % p;
    }
    return result;
  };
  const inverse = (value: bigint) => power(value, p - 2n);
  const d = (-121665n * inverse(121666n)) % p;
  // y of the points with x = 0 (order 1, 2), y = 0 (order 4), and y² = x² on the curve (order 8).
  const root = (square: bigint) => {
    const half = power(square, (p + 3n) / 8n);
    return (half * half - square) % p === 0n ? half : (half * power(2n, (p - 1n) / 4n)) % p;
  };
  // -x² + y² = 1 + d x² y² with x² = -y² (doubling gives y = 0): 2y² = 1 - d y⁴.
  const eighths = [1n, -1n]
    .map((sign) => ((-1n + sign * root(1n + d)) * inverse(d)) % p)
    .map((y2) => ((y2 % p) + p) % p);
  const ys = eighths.filter((y2) => { const r = root(y2); return (r * r - y2) % p === 0n; }).flatMap((y2) => [root(y2), p - root(y2)]); // biome-ignore format: short
  expect(ys).toHaveLength(2);
  const spellings = [...new Set([0n, 1n, p - 1n, p, p + 1n, ...ys])].flatMap((y) => [y, y | (1n << 255n)]);
  for (const value of spellings) {
    const x = Buffer.from(value.toString(16).padStart(64, "0"), "hex").reverse().toString("base64url");
    expect(readEd25519Jwk({ kty: "OKP", crv: "Ed25519", x }), x).toBeUndefined();
  }
  expect(readEd25519Jwk(alice.jwk)).toEqual(alice.jwk);
});

import { generateKeyPairSync } from "node:crypto";
import { describe, expect, test } from "vitest";
import { checkAudience, readGrant, readTimes } from "./claims.ts";

const jwk = generateKeyPairSync("ed25519").publicKey.export({ format: "jwk" });
const privateJwk = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });

test("a full grant is read", () => {
  const payload = {
    sub: "alice",
    topics: ["room:*", "lab/**"],
    level: "full",
    kind: "human",
    name: "Alice",
    tools: ["fs.*"],
    segment: "lab",
    scope: "write",
    admin: true,
    cnf: { jwk },
  };
  const { sub, cnf: _cnf, ...rest } = payload;
  expect(readGrant(payload)).toEqual({ ...rest, id: sub, key: jwk });
});

test("what is not granted is not there: no topics, no tools, no admin", () => {
  expect(readGrant({})).toMatchObject({
    id: undefined,
    topics: [],
    tools: [],
    level: undefined,
    admin: false,
  });
});

test.each([
  ["an id with a space", { sub: "al ice" }],
  ["an empty id", { sub: "" }],
  ["an id that is a number", { sub: 7 }],
  ["a reserved id", { sub: "system:gateway" }],
  ["a reserved id in capitals", { sub: "Gateway" }],
  ["an unknown level", { level: "root" }],
  ["a level in capitals", { level: "Full" }],
  ["an unknown kind", { kind: "ghost" }],
  ["a name with control characters", { name: "a\u001b[2J" }],
  ["a name that is too long", { name: "x".repeat(129) }],
  ["topics that are a string", { topics: "**" }],
  ["a topic that is no string", { topics: [{}] }],
  ["an empty topic", { topics: [""] }],
  ["too many topics", { topics: Array(65).fill("a") }],
  ["a topic that is too long", { topics: ["x".repeat(257)] }],
  ["tools that are true", { tools: true }],
  ["a segment with a space", { segment: "a b" }],
  ["a segment with a dot", { segment: "lab.arm" }],
  ["a segment in capitals", { segment: "Lab" }],
  ["a segment that is a glob", { segment: "*" }],
  ["an empty segment", { segment: "" }],
  ["a segment that is too long", { segment: "a".repeat(64) }],
  ["a segment with a line end", { segment: "lab\n" }],
  ["segments in a list", { segment: ["lab"] }],
  ["admin as a string", { admin: "true" }],
  ["admin as a number", { admin: 1 }],
  ["cnf without a key", { cnf: {} }],
  ["cnf with a thumbprint only", { cnf: { jkt: "x" } }],
  ["cnf that is null", { cnf: null }],
  ["cnf with a private key", { cnf: { jwk: privateJwk } }],
])("[X0-5.1-3] %s is refused", (_what, payload) => {
  expect(() => readGrant(payload)).toThrow(expect.objectContaining({ code: "unauthorised" }));
});

test.each(["openid profile", "Write", "write ", "read write", "", ["write"], { write: true }, 1, null])(
  "[AX-10.2-2] the scope %j is none of ours: it is no fault, and grants nothing",
  (scope) => {
    expect(readGrant({ scope }).scope).toBeUndefined();
  },
);

describe("times", () => {
  const now = 1_900_000_000_000;
  const nowS = now / 1_000;
  const rules = { now, ttlMsMax: 3_600_000 };

  test("the end is read in milliseconds", () => {
    expect(readTimes({ exp: nowS + 60, iat: nowS, nbf: nowS }, rules)).toBe(now + 60_000);
  });

  test.each([
    ["ended just now", { exp: nowS }, "token_expired"],
    ["ended a second ago", { exp: nowS - 1 }, "token_expired"],
    ["no end", {}, "unauthorised"],
    ["an end that is text", { exp: String(nowS + 60) }, "unauthorised"],
    ["an end that is null", { exp: null }, "unauthorised"],
    ["an end beyond any number", { exp: 1e308 * 10 }, "unauthorised"],
    ["an end in milliseconds", { exp: now + 60_000 }, "unauthorised"],
    ["an end past the longest life", { exp: nowS + 3_601 }, "unauthorised"],
    ["not valid yet", { exp: nowS + 60, nbf: nowS + 6 }, "unauthorised"],
    ["nbf that is text", { exp: nowS + 60, nbf: "0" }, "unauthorised"],
    ["issued in the future", { exp: nowS + 600, iat: nowS + 61 }, "unauthorised"],
  ])("[X0-5.1-3] %s is refused", (_what, payload, code) => {
    expect(() => readTimes(payload, rules)).toThrow(expect.objectContaining({ code }));
  });

  test("an issuer's clock may run ahead a little", () => {
    expect(readTimes({ exp: nowS + 60, iat: nowS + 59, nbf: nowS + 4 }, rules)).toBe(now + 60_000);
  });
});

describe("audience", () => {
  const accepted = ["https://mcpx.example"];

  test("the exact word is accepted, alone or in a list", () => {
    checkAudience({ aud: "https://mcpx.example" }, accepted);
    checkAudience({ aud: ["other", "https://mcpx.example"] }, accepted);
  });

  test.each([
    [undefined],
    [null],
    [""],
    [[]],
    ["https://mcpx.example/"],
    ["https://mcpx.example.evil"],
    ["HTTPS://MCPX.EXAMPLE"],
    ["https://mcpx.exampl"],
    ["https://mcpx.example\u0000"],
    [" https://mcpx.example"],
    [["https://mcpx.example/"]],
    [[["https://mcpx.example"]]],
    [{ "https://mcpx.example": true }],
  ])("[X0-5.1-3] the look-alike %j is refused", (aud) => {
    expect(() => checkAudience({ aud }, accepted)).toThrow(expect.objectContaining({ code: "unauthorised" }));
  });
});

import type { CapabilityClaims } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { type SeenBounds, SeenCapabilities } from "./seen-capabilities.ts";

const now = 1_800_000_000_000;
const minuteMs = 60_000;

function claims(more: Partial<CapabilityClaims> = {}): CapabilityClaims {
  const seconds = now / 1_000;
  return {
    jti: "c1",
    iss: "oven",
    holder: "ann",
    topic: "kitchen",
    cnf: { jwk: { kty: "OKP", crv: "Ed25519", x: "x" } },
    tools: ["heat"],
    iat: seconds,
    nbf: seconds,
    exp: seconds + 600,
    parent: "a token",
    ...more,
  };
}

function seenBy(list: readonly Partial<CapabilityClaims>[], bounds?: Partial<SeenBounds>): SeenCapabilities {
  const seen = new SeenCapabilities(bounds);
  for (const one of list) seen.note(claims(one), now);
  return seen;
}

const ids = (seen: SeenCapabilities, at = now) => seen.list(at).map(({ issuer, id }) => `${issuer} ${id}`);

test("[AC-12-1] what was seen is listed until it is over, without keys or tokens", () => {
  const seen = seenBy([{ maxUses: 3 }]);
  expect(seen.list(now)).toEqual([
    {
      topic: "kitchen",
      issuer: "oven",
      id: "c1",
      holder: "ann",
      tools: ["heat"],
      toolsLeftOut: 0,
      maxUses: 3,
      seenAtMs: now,
      untilMs: now + 10 * minuteMs,
    },
  ]);
  expect(ids(seen, now + 10 * minuteMs)).toEqual([]);
});

test("[AC-12-1] what is over is not taken up, and the longest life of an id counts", () => {
  expect(ids(seenBy([{ exp: now / 1_000 }]))).toEqual([]);
  const seen = seenBy([{}, { exp: now / 1_000 + 1_200 }, {}]);
  expect(ids(seen, now + 19 * minuteMs)).toEqual(["oven c1"]);
});

test("[AC-12-1] many tools and a life without end are cut", () => {
  const tools = Array.from({ length: 256 }, (_, n) => `${n}`.padStart(255, "x"));
  const [kept] = seenBy([{ tools, exp: Number.MAX_SAFE_INTEGER }]).list(now);
  expect(kept?.tools).toEqual(tools.slice(0, 3));
  expect(kept?.toolsLeftOut).toBe(253);
  expect(() => new Date(kept?.untilMs ?? Number.NaN).toISOString()).not.toThrow();
  expect(seenBy([{ tools: "*" }]).list(now)).toMatchObject([{ tools: "*", toolsLeftOut: 0 }]);
});

test("[AC-12-1] who gives very many forgets its own first; then the oldest goes", () => {
  const many = ["a", "b", "c"].map((jti) => ({ jti }));
  const bounds = { countPerIssuerMax: 2, countMax: 3 };
  const seen = seenBy([{ jti: "z", iss: "stove" }, ...many], bounds);
  expect(ids(seen)).toEqual(["stove z", "oven b", "oven c"]);
  seen.note(claims({ iss: "fridge" }), now);
  expect(ids(seen)).toEqual(["oven b", "oven c", "fridge c1"]);
  seen.note(claims({ jti: "late", exp: now / 1_000 + 6_000 }), now + 20 * minuteMs);
  expect(ids(seen, now)).toEqual(["oven late"]);
});

import type { IssuedToken } from "@mcpx/host";
import { expect, test } from "vitest";
import { assignedRights, judgeLevels } from "./levels.ts";

const token = (
  sub: string | undefined,
  claims: object = {},
  more: Partial<IssuedToken> = {},
): IssuedToken => ({
  jti: "j",
  sub,
  claims: { topics: ["demo"], ...claims },
  issuedAt: 0,
  expiresAt: 2_000,
  revokedAt: undefined,
  kid: "k",
  ...more,
});

const tokens = [
  token("zoe"),
  token("bob"),
  token("bob"),
  token("alice"),
  token("levelled", { level: "responder" }),
  token("tools-only", { topics: [] }),
  token("ended", {}, { expiresAt: 1_000 }),
  token("revoked", {}, { revokedAt: 500 }),
  token("decided", { topics: ["a", "b"] }),
  token("half-decided", { topics: ["a", "c"] }),
  token(undefined),
  token("console:root"),
  token("cli:root"),
  token("root@console.1"),
];
const identities = { alice: { level: "full" } } as const;
const isDecided = (id: string, topic: string) => id.endsWith("decided") && topic !== "c";

test.each([
  ["mixed", "warning", /^3 participants without a level: bob, half-decided, zoe; they are restricted/],
  [undefined, "warning", /they are restricted/],
  ["secure", "warning", /: bob, half-decided, zoe; they are refused/],
  ["open", "ok", /would be restricted, in mode secure refused; 3 participants .*: bob, half-decided, zoe$/],
] as const)("[X1-8-2] in mode %s those without a level are listed", (mode, state, text) => {
  const config = { identities, ...(mode && { mode }) };
  expect(judgeLevels(config, tokens, isDecided, 1_500)).toEqual([
    { about: "levels", state, text: expect.stringMatching(text), fix: expect.stringContaining('"bob"') },
  ]);
});

test("where everybody has a level there is nothing to say", () => {
  expect(judgeLevels({ identities }, [token("alice")], isDecided, 0)).toEqual([]);
});

test("[PL-4-1] rights that differ from the built-in ones are shown, the others are not", () => {
  const levels = { restricted: { reject: "allow", withdraw: "allow" }, full: { chat: "deny" } } as const;
  expect(assignedRights({ levels })).toEqual([
    {
      about: "levels",
      state: "ok",
      text: "assigned by the configuration: restricted reject: allow, full chat: deny",
    },
  ]);
  expect(assignedRights({ levels: { restricted: { reject: "addressed", chat: "allow" } } })).toEqual([]);
  expect(assignedRights({})).toEqual([]);
});

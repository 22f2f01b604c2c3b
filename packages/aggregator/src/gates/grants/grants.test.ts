import { setImmediate as turn } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import {
  addGrant,
  endSessionGrants,
  type Grant,
  type GrantQuestion,
  type Grants,
  listGrants,
  revokeGrant,
  useGrant,
} from "./grants.ts";

const grantOf = (more: Partial<Grant> = {}): Grant => ({
  id: "g1",
  principal: "agent",
  tools: "files.*",
  grantedBy: "alice",
  reason: "cleaning up",
  expiresAt: 1_000,
  ...more,
});

const once = { expiresAt: undefined, usesLeft: 1 };

function grantsWith(...given: Grant[]): Grants {
  const grants: Grants = new Map();
  for (const grant of given) addGrant(grants, grant, 0);
  return grants;
}

const question: GrantQuestion = {
  action: "ask",
  approvers: 1,
  principal: "agent",
  session: "s1",
  tool: "files.delete",
  digest: "sha256:a",
  now: 0,
};

const use = (grants: Grants, more: Partial<GrantQuestion> = {}) =>
  useGrant(grants, { ...question, ...more })?.id;
const refused = (detail: string) =>
  expect.objectContaining({ code: "bad_request", detail: expect.stringContaining(detail) });

describe("a grant", () => {
  test("covers its principal's calls of its tools, and says who gave it", () => {
    const grants = grantsWith(grantOf());
    expect(useGrant(grants, question)).toEqual(grantOf());
    expect(use(grants, { principal: "other" })).toBeUndefined();
    expect(use(grants, { tool: "mail.send" })).toBeUndefined();
    expect(use(grants, { tool: "files.a.b" })).toBeUndefined();
  });

  test.each(["always_ask", "deny", "allow"] as const)("[AX-11.3-7] never covers %s", (action) => {
    const grants = grantsWith(grantOf(once));
    expect(use(grants, { action })).toBeUndefined();
    expect(use(grants)).toBe("g1");
  });

  test("ends at its time", () => {
    const grants = grantsWith(grantOf());
    expect(use(grants, { now: 999 })).toBe("g1");
    expect(use(grants, { now: 1_000 })).toBeUndefined();
    expect(listGrants(grants, 1_000)).toEqual([]);
  });

  test("for a session counts in no other", () => {
    const grants = grantsWith(grantOf({ expiresAt: undefined, session: "s1" }));
    expect(use(grants, { session: "s2" })).toBeUndefined();
    expect(use(grants)).toBe("g1");
    endSessionGrants(grants, "s2");
    expect(use(grants)).toBe("g1");
    endSessionGrants(grants, "s1");
    expect(use(grants)).toBeUndefined();
  });

  test("for these arguments counts for no others", () => {
    const grants = grantsWith(grantOf({ argumentsDigest: "sha256:a" }));
    expect(use(grants, { digest: "sha256:b" })).toBeUndefined();
    expect(use(grants)).toBe("g1");
  });

  test("has as many uses as were given, however many race for them", async () => {
    const grants = grantsWith(grantOf({ usesLeft: 3 }));
    const used = await Promise.all(
      Array.from({ length: 100 }, async () => {
        await turn();
        return use(grants);
      }),
    );
    expect(used.filter((id) => id !== undefined)).toHaveLength(3);
    expect(listGrants(grants, 0)).toEqual([]);
  });

  test("keeps its uses while another covers the call for nothing", () => {
    const grants = grantsWith(grantOf({ id: "once", ...once }), grantOf({ id: "hour" }));
    expect(use(grants)).toBe("hour");
    expect(use(grants, { now: 1_000 })).toBe("once");
    expect(use(grants, { now: 1_000 })).toBeUndefined();
  });

  test("is revoked at once", () => {
    const grants = grantsWith(grantOf(), grantOf({ id: "g2", principal: "other" }));
    expect(revokeGrant(grants, "g1")).toBe(true);
    expect(revokeGrant(grants, "g1")).toBe(false);
    expect(use(grants)).toBeUndefined();
    expect(listGrants(grants, 0).map(({ id }) => id)).toEqual(["g2"]);
  });

  test("is not changed by whoever holds a copy of it", () => {
    const given = grantOf({ usesLeft: 2 });
    const grants = grantsWith(given);
    given.tools = "**";
    for (const listed of listGrants(grants, 0)) listed.usesLeft = 1_000;
    expect(useGrant(grants, question)).toMatchObject({ tools: "files.*", usesLeft: 1 });
  });
});

describe("what is no grant", () => {
  test("one without an end", () => {
    const endless = grantOf({ expiresAt: undefined, argumentsDigest: "sha256:a" });
    expect(() => grantsWith(endless)).toThrow(refused("end"));
  });

  test.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])("one with %d uses", (usesLeft) => {
    expect(() => grantsWith(grantOf({ usesLeft }))).toThrow(refused("uses"));
  });

  test("a second of the same id", () => {
    expect(() => grantsWith(grantOf(), grantOf())).toThrow(refused("id"));
  });

  test("one more than are kept, until some have ended", () => {
    const grants: Grants = new Map();
    for (let i = 0; i < 1_000; i++) addGrant(grants, grantOf({ id: `g${i}` }), 0);
    expect(() => addGrant(grants, grantOf({ id: "more" }), 999)).toThrow(refused("1000 grants"));
    addGrant(grants, grantOf({ id: "more", expiresAt: 2_000 }), 1_000);
    expect(grants.size).toBe(1);
  });
});

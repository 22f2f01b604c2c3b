import { describe, expect, test } from "vitest";
import { withOurNames } from "./printed-claims.ts";

const x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";

describe("claims by their printed names", () => {
  test("[AC-7-1] [AC-8-5] [AC-8-7] each is read as ours", () => {
    const printed = {
      id: "cap-1",
      issuer: "agent-b",
      holderPublicKey: x,
      channelId: "ws-1",
      sessionId: "ws-1",
    };
    expect(withOurNames({ ...printed, holder: "agent-a" })).toEqual({
      jti: "cap-1",
      iss: "agent-b",
      holder: "agent-a",
      cnf: { jwk: { kty: "OKP", crv: "Ed25519", x } },
      channel: "ws-1",
    });
    expect(withOurNames({ sessionId: "ws-2" })).toEqual({ channel: "ws-2" });
  });

  test("[AC-7-2] [AC-7-4] constraints are claims", () => {
    const constraints = { maxUses: 2, arguments: { type: "object" } };
    expect(withOurNames({ iat: 10, exp: 20, constraints })).toEqual({
      iat: 10,
      nbf: 10,
      exp: 20,
      maxUses: 2,
      arguments: { type: "object" },
    });
  });

  test.each([
    [
      { nbf: 10, exp: 90 },
      { nbf: 50, exp: 60 },
    ],
    [
      { nbf: 55, exp: 58 },
      { nbf: 55, exp: 58 },
    ],
    [{ iat: 5 }, { iat: 5, nbf: 50, exp: 60 }],
  ])("[AC-7-3] the later beginning and the earlier end count: %j", (ours, expected) => {
    const constraints = { validFrom: "1970-01-01T00:00:49.1Z", validUntil: "1970-01-01T00:01:00.9Z" };
    expect(withOurNames({ ...ours, constraints })).toEqual(expected);
  });

  test.each([
    [{ jti: "a", id: "a" }, "jti and id"],
    [{ iss: "a", issuer: "b" }, "iss and issuer"],
    [{ cnf: {}, holderPublicKey: x }, "cnf and holderPublicKey"],
    [{ channel: "a", channelId: "a" }, "channel and channelId"],
    [{ channelId: "a", sessionId: "b" }, "channelId and sessionId"],
    [{ maxUses: 1, constraints: { maxUses: 1 } }, "maxUses"],
    [{ constraints: [] }, "constraints"],
    [{ constraints: { maxUse: 1 } }, "constraints"],
    [{ constraints: { validUntil: "soon" } }, "constraints.validUntil"],
  ])("[AC-5-1] %j is malformed, and the claim is named", (payload, named) => {
    expect(() => withOurNames(payload)).toThrow(expect.objectContaining({ code: "malformed" }));
    expect(() => withOurNames(payload)).toThrow(named);
  });
});

import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../json/json-rpc.ts";
import {
  challengeOf,
  namesAsker,
  readStatement,
  type Statement,
  statementOf,
  statementText,
} from "./gate.ts";

const terms = {
  confirmation_id: "c-1",
  aggregator_id: "7f0c2a34-0000-4000-8000-000000000001",
  route: ["plant", "files", "delete"],
  tool: "files.delete",
  arguments_digest: `sha256:${"A".repeat(43)}`,
  nonce: "n".repeat(43),
  expires_at: 1_893_456_300,
};
const statement: Statement = statementOf(terms, "approve");
const server = {
  name: "files",
  identity: `stdio:${"B".repeat(43)}`,
  tool: "delete",
  definition: `sha256:${"C".repeat(43)}`,
};
const named = { ...terms, version: 2 as const, asker: "top/agent", server };
const refused = (detail: string) =>
  expect.objectContaining({ code: "bad_proof", detail: expect.stringContaining(detail) });

describe("a statement", () => {
  test("[AX-11.3-2] says everything of the call, and nothing else of its gate", () => {
    const gate = { ...terms, principal: "agent", argumentsText: "{}" };
    expect(statementOf(gate, "reject", "not on a Friday")).toEqual({
      ...terms,
      decision: "reject",
      reason: "not on a Friday",
    });
    expect(statementOf(gate, "approve")).not.toHaveProperty("reason");
  });

  test("[AX-11.3-2] has one text, whose hash a passkey signs", async () => {
    const text = `{"aggregator_id":"7f0c2a34-0000-4000-8000-000000000001","arguments_digest":"sha256:${"A".repeat(43)}","confirmation_id":"c-1","decision":"approve","expires_at":1893456300,"nonce":"${"n".repeat(43)}","route":["plant","files","delete"],"tool":"files.delete"}`;
    expect(statementText(statement)).toBe(text);
    expect(await challengeOf(statement)).toBe(createHash("sha256").update(text).digest("base64url"));
  });

  test("[B-SIGN-1] version 2 names the asker and the server, in one text", () => {
    const signed = statementOf({ ...named, principal: "agent" } as never, "approve");
    expect(signed).toEqual({ ...named, decision: "approve" });
    expect(readStatement(JSON.parse(statementText(signed)))).toEqual(signed);
    expect([namesAsker(signed), namesAsker(statement)]).toEqual([true, false]);
  });

  test("[B-SIGN-1] asker, server and version come together, and with nothing that is not known", () => {
    const whole = { ...named, decision: "approve" };
    const { version: _, ...without } = whole;
    const wrong: [JsonObject, string][] = [
      [without, "version"],
      [{ ...whole, version: 1 }, "version"],
      [{ ...whole, version: 3 }, "version"],
      [{ ...whole, asker: undefined }, "asker"],
      [{ ...whole, asker: "" }, "asker"],
      [{ ...whole, asker: "x".repeat(4_097) }, "asker"],
      [{ ...whole, server: undefined }, "server"],
      [{ ...whole, server: { ...server, tool: "" } }, "server.tool"],
      [{ ...whole, server: { ...server, identity: 1 } }, "server.identity"],
      [{ ...whole, server: { ...server, name: "" } }, "server.name"],
      [{ ...whole, server: { ...server, definition: "md5" } }, "definition"],
      [{ ...whole, server: { ...server, more: "" } }, "server"],
    ];
    for (const [value, field] of wrong) expect(() => readStatement(value)).toThrow(refused(field));
  });

  test("[AX-11.3-2] every field changes what is signed", async () => {
    const others: Statement[] = [
      { ...statement, confirmation_id: "c-2" },
      { ...statement, aggregator_id: "7f0c2a34-0000-4000-8000-000000000002" },
      { ...statement, route: ["plant", "files.delete"] },
      { ...statement, tool: "files.delete_all" },
      { ...statement, arguments_digest: `sha256:${"B".repeat(43)}` },
      { ...statement, nonce: "m".repeat(43) },
      { ...statement, expires_at: statement.expires_at + 1 },
      { ...statement, decision: "reject" },
      { ...statement, reason: "" },
      { ...statement, ...named },
      { ...statement, ...named, asker: "agent" },
      ...Object.keys(server).map((key) => ({ ...statement, ...named, server: { ...server, [key]: "x" } })),
    ];
    const challenges = await Promise.all([statement, ...others].map(challengeOf));
    expect(new Set(challenges).size).toBe(others.length + 1);
  });

  test("is read back as it was written", () => {
    const rejected = statementOf(terms, "reject", "nein ß 😀");
    for (const one of [statement, rejected]) {
      expect(readStatement(JSON.parse(statementText(one)))).toEqual(one);
    }
  });

  test.each<[string, Record<string, unknown>]>([
    ["confirmation_id", { confirmation_id: "" }],
    ["confirmation_id", { confirmation_id: 1 }],
    ["confirmation_id", { confirmation_id: "a b" }],
    ["confirmation_id", { confirmation_id: "c".repeat(129) }],
    ["aggregator_id", { aggregator_id: undefined }],
    ["aggregator_id", { aggregator_id: ["a"] }],
    ["route", { route: "plant" }],
    ["route", { route: [""] }],
    ["route", { route: [1] }],
    ["route", { route: Array.from({ length: 129 }, () => "a") }],
    ["route", { route: ["\ud800"] }],
    ["tool", { tool: "" }],
    ["tool", { tool: "t".repeat(256) }],
    ["tool", { tool: null }],
    ["arguments_digest", { arguments_digest: "A".repeat(43) }],
    ["arguments_digest", { arguments_digest: `sha256:${"A".repeat(42)}` }],
    ["arguments_digest", { arguments_digest: `sha256:${"A".repeat(43)}\n` }],
    ["arguments_digest", { arguments_digest: `sha512:${"A".repeat(43)}` }],
    ["nonce", { nonce: "short" }],
    ["nonce", { nonce: "n".repeat(129) }],
    ["nonce", { nonce: `${"n".repeat(42)}=` }],
    ["expires_at", { expires_at: "1893456300" }],
    ["expires_at", { expires_at: 1.5 }],
    ["expires_at", { expires_at: 0 }],
    ["expires_at", { expires_at: 2 ** 53 }],
    ["decision", { decision: "Approve" }],
    ["decision", { decision: true }],
    ["decision", { decision: undefined }],
    ["reason", { reason: null }],
    ["reason", { reason: "r".repeat(1_001) }],
    ["reason", { reason: "\udc00" }],
    ["not known", { Decision: "reject" }],
    ["not known", { only_if: "it rains" }],
  ])("with a wrong %s is refused: %o", (detail, change) => {
    expect(() => readStatement({ ...statement, ...change })).toThrow(refused(detail));
  });

  test.each([null, undefined, "approve", 1, [], [statement]])("is not %o", (value) => {
    expect(() => readStatement(value)).toThrow(refused("object"));
  });
});

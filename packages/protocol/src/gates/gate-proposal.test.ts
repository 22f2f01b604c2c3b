import { describe, expect, test } from "vitest";
import type { JsonObject } from "../json/json-rpc.ts";
import { defaultLimits } from "../limits.ts";
import { cautious } from "../tree/capability.ts";
import {
  type GateNotice,
  gateOfProposal,
  gateProposal,
  gateProposalId,
  readGateNotice,
} from "./gate-proposal.ts";

const noticeOf = (text: string): GateNotice & { arguments_text: string } => ({
  confirmation_id: "c-1",
  aggregator_id: "7f0c2a34-0000-4000-8000-000000000001",
  route: ["files", "delete"],
  tool: "files.delete",
  arguments_digest: `sha256:${"A".repeat(43)}`,
  nonce: "n".repeat(43),
  expires_at: 1_893_456_300,
  arguments_text: text,
  arguments_chars: text.length,
  annotation: { ...cautious },
  approve_url: "http://127.0.0.1:6279/approve/c-1",
  approvers: 1,
  asked_by: "agent",
  asked_at: "2030-01-01T00:00:00.000Z",
  why: "irreversible",
  last: { at: "2029-12-31T00:00:00.000Z", by: ["alice"], changes: [{ path: "/path", old: '"a"' }], more: 0 },
});
const nested = (depth: number) => `${'{"a":'.repeat(depth - 1)}{}${"}".repeat(depth - 1)}`;
const bytesOf = (payload: JsonObject) => new TextEncoder().encode(JSON.stringify(payload)).length;

describe("a gate as a proposal", () => {
  test("[B-GATE-1] is the call, with all that has to be signed and the arguments to the byte", () => {
    const notice = noticeOf('{"path":"/tmp/x","bytes":9007199254740993}');
    const payload = gateProposal(notice, "agent asks", defaultLimits);
    expect(payload).toMatchObject({
      method: "tools/call",
      params: { name: "files.delete", arguments: { path: "/tmp/x" } },
      reason: "agent asks",
      expires_at: "2030-01-01T00:06:00.000Z",
    });
    expect(JSON.stringify(payload.params)).toContain("9007199254740993");
    expect(readGateNotice(JSON.parse(JSON.stringify(payload)).mcpax)).toEqual(notice);
  });

  test.each([
    ["too long", JSON.stringify({ text: "x".repeat(defaultLimits.envelopeBytesMax) })],
    ["too long once escaped", JSON.stringify({ text: "\u0001".repeat(30_000) })],
    ["too deep", nested(30)],
  ])("[B-GATE-1] arguments that are %s are left out as a whole, and that is said", (_what, text) => {
    const payload = gateProposal(noticeOf(text), "agent asks.", defaultLimits);
    expect(payload.params).toEqual({ name: "files.delete", arguments_digest: noticeOf("").arguments_digest });
    expect(payload.reason).toBe(
      `agent asks. The arguments (${text.length} characters) do not fit into this room: read them at http://127.0.0.1:6279/approve/c-1`,
    );
    const read = readGateNotice(payload.mcpax);
    expect(read).not.toHaveProperty("arguments_text");
    expect(read?.arguments_chars).toBe(text.length);
    expect(bytesOf(payload)).toBeLessThan(defaultLimits.envelopeBytesMax);
  });

  test("what just fits is shown", () => {
    for (const text of [nested(28), JSON.stringify({ text: "x".repeat(100_000) })]) {
      expect(gateProposal(noticeOf(text), "", defaultLimits).params).toHaveProperty("arguments");
    }
  });

  test("what was different is left out before the rest is", () => {
    const changes = [{ path: "/a", new: "x".repeat(5_000) }];
    const last = { at: "", by: [], changes, more: 0 };
    const payload = gateProposal({ ...noticeOf(nested(30)), last }, "", {
      envelopeBytesMax: 6_000,
      depthMax: 32,
    });
    expect(payload.mcpax).not.toHaveProperty("last");
    expect(bytesOf(payload)).toBeLessThan(2_000);
  });

  test("has an id of its own, always the same", () => {
    expect(gateProposalId("c-1")).toBe("gate-c-1");
    expect(gateOfProposal("gate-c-1")).toBe("c-1");
    expect(gateOfProposal("wish-1")).toBeUndefined();
  });
});

test.each<[string, unknown]>([
  ["nothing", undefined],
  ["a text", "gate"],
  ["no terms", {}],
  ["another digest", { ...noticeOf("{}"), arguments_digest: "x" }],
  ["no nonce", { ...noticeOf("{}"), nonce: undefined }],
  ["an address that is none", { ...noticeOf("{}"), approve_url: 1 }],
  ["half an approver", { ...noticeOf("{}"), approvers: 0.5 }],
  ["no annotation", { ...noticeOf("{}"), annotation: null }],
])("%s is no gate", (_what, value) => {
  expect(readGateNotice(value)).toBeUndefined();
});

test("what a stranger writes beside it is not taken over", () => {
  const last = { at: "x", by: ["a", 1], changes: [{ path: 1 }, { path: "/a", new: "1" }, null], more: -1 };
  const read = readGateNotice({ ...noticeOf("{}"), last, isTrusted: true });
  expect(read).not.toHaveProperty("isTrusted");
  expect(read?.last).toEqual({ at: "x", by: ["a"], changes: [{ path: "/a", new: "1" }], more: 0 });
});

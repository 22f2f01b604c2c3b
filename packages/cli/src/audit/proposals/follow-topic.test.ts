// Proposals followed through the log of a topic.
import { expect, test } from "vitest";
import { followTopic } from "./follow-topic.ts";
import { newestProposals } from "./newest-proposals.ts";
import type { ProposalRecord } from "./proposal-record.ts";

const params = { name: "heat", arguments: { degrees: 200 } };

function topicOf() {
  const follower = followTopic("kitchen");
  let seq = 0;
  const say = (at: number, from: string, fields: object, text = (json: string) => json) => {
    seq += 1;
    const id = `e${seq}`;
    const json = JSON.stringify({
      protocol: "mcpx/v0.1",
      id,
      ts: new Date(at).toISOString(),
      from,
      ...fields,
    });
    return follower.take({ topic: "kitchen", seq, id, from, at, text: text(json) });
  };
  const propose = (at: number, more: object = {}) =>
    say(at, "ann", {
      kind: "mcp/proposal",
      to: ["oven"],
      payload: { method: "tools/call", params, ...more },
    });
  return { say, propose, end: follower.end };
}

const actionsOf = (records: readonly ProposalRecord[]) => records.map(({ action }) => action);

test("[B-AUDIT-1] a call that names no proposal fulfils the one it repeats, and its answer is told", () => {
  const { say, propose } = topicOf();
  const call = {
    kind: "mcp",
    to: ["oven"],
    payload: { jsonrpc: "2.0", id: 1, method: "tools/call", params },
  };
  expect(say(1, "bob", call)).toEqual([]);
  expect(propose(2)).toMatchObject([{ action: "proposal.made", actor: "ann", subject: "oven", at: 2 }]);
  expect(say(3, "bob", call)).toMatchObject([{ action: "proposal.fulfilled", actor: "bob", at: 3 }]);
  const answer = { jsonrpc: "2.0", id: 1, error: { code: -1, message: "cold" } };
  const answered = say(4, "oven", { kind: "mcp", to: ["bob"], correlation_id: "e3", payload: answer });
  expect(answered).toMatchObject([
    { action: "proposal.answered", subject: "bob", detail: { outcome: "error" } },
  ]);
});

test("[B-AUDIT-1] a proposal that somebody fulfils with another tool is recorded with the tool that was called", () => {
  const { say, propose } = topicOf();
  propose(1);
  const call = (name: string) => ({
    kind: "mcp",
    to: ["oven"],
    correlation_id: "e1",
    payload: { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: {} } },
  });
  const [record] = say(2, "bob", call("melt"));
  expect(record?.detail).toMatchObject({ tool: "melt", proposedTool: "heat", changed: true });
  const [answered] = say(3, "oven", {
    kind: "mcp",
    to: ["bob"],
    correlation_id: "e2",
    payload: { jsonrpc: "2.0", id: 1, result: {} },
  });
  expect(answered).toMatchObject({ action: "proposal.answered", detail: { tool: "melt" } });
  propose(4);
  const [same] = say(5, "bob", { ...call("heat"), correlation_id: "e4" });
  expect(same?.detail).toMatchObject({ tool: "heat", changed: true });
  expect(same?.detail).not.toHaveProperty("proposedTool");
});

test("[B-AUDIT-1] a proposal expires at its own time, seen by a later envelope or at the end", () => {
  const { say, propose, end } = topicOf();
  propose(0, { ttl_ms: 20 });
  propose(0, { ttl_ms: 10 });
  propose(0, { ttl_ms: 90 });
  const seen = say(50, "bob", { kind: "chat", payload: { text: "hello" } });
  expect(seen.map(({ action, at, detail }) => [action, at, detail.proposal])).toEqual([
    ["proposal.expired", 10, "e2"],
    ["proposal.expired", 20, "e1"],
  ]);
  expect(end(90)).toEqual([]);
  expect(end(91)).toMatchObject([{ action: "proposal.expired", at: 90, detail: { proposal: "e3" } }]);
});

test("[B-AUDIT-1] a proposal whose kind is spelt with escapes is found too", () => {
  const { say } = topicOf();
  const made = say(1, "ann", { kind: "mcp/proposal", payload: { method: "tools/call", params } }, (json) =>
    json.replace("mcp/proposal", "mcp/\\u0070ropos\\u0061l"),
  );
  expect(actionsOf(made)).toEqual(["proposal.made"]);
});

test("[B-AUDIT-1] a proposal that others crowd out is not lost in silence", () => {
  const { propose } = topicOf();
  for (let at = 1; at <= 1_000; at += 1) expect(actionsOf(propose(at))).toEqual(["proposal.made"]);
  expect(propose(1_001)).toMatchObject([
    { action: "proposal.made", detail: { proposal: "e1001" } },
    { action: "proposal.untracked", actor: "ann", at: 1_001, detail: { proposal: "e1" } },
  ]);
});

test("[B-AUDIT-1] no arguments, no token and no long text is in a record", () => {
  const { propose } = topicOf();
  const [record] = propose(1, { reason: `with eyJhbGciOi.eyJzdWIi.c2ln ${"x".repeat(1_000)}` });
  expect(record?.detail.reason).toMatch(/^with \[secret\] x{100,250}…$/);
  expect(JSON.stringify(record)).not.toContain("200");
});

test("[B-AUDIT-1] of many records the newest that fit are kept", async () => {
  const { propose } = topicOf();
  const batches = [3, 1, 2].map((topic) => [10, 20].map((at) => ({ ...propose(at)[0], at: at + topic })));
  async function* each() {
    yield* batches as ProposalRecord[][];
  }
  const newest = async (query: object) =>
    (await newestProposals(each(), { limit: 10, ...query })).map(({ at }) => Date.parse(String(at)));
  expect(await newest({ limit: 4 })).toEqual([23, 22, 21, 13]);
  expect(await newest({ since: 22 })).toEqual([23, 22]);
  expect(await newest({ actor: "bob" })).toEqual([]);
  expect(await newest({ action: "proposal.m*", limit: 1 })).toEqual([23]);
  expect(await newest({ action: "gate.*" })).toEqual([]);
});

test("a call that names a proposal which is over is told, and so is its answer", () => {
  const { say, propose } = topicOf();
  propose(1);
  expect(
    actionsOf(say(2, "ann", { kind: "mcpx.withdraw.proposal", correlation_id: "e1", payload: {} })),
  ).toEqual(["proposal.withdrawn"]);
  const payload = { jsonrpc: "2.0", id: 1, method: "tools/call", params };
  expect(say(3, "bob", { kind: "mcp", to: ["oven"], correlation_id: "e1", payload })).toMatchObject([
    {
      action: "proposal.called_late",
      actor: "bob",
      subject: "oven",
      detail: { proposer: "ann", changed: false },
    },
  ]);
  const answer = { jsonrpc: "2.0", id: 1, result: {} };
  expect(say(4, "oven", { kind: "mcp", to: ["bob"], correlation_id: "e3", payload: answer })).toMatchObject([
    { action: "proposal.answered", actor: "oven", subject: "bob" },
  ]);
});

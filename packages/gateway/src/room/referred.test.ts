import { expect, test } from "vitest";
import { createMemoryTopicLog } from "../topic-log/memory.ts";
import { findReferred } from "./referred.ts";
import { createRoom } from "./room.ts";

async function referred(fields: object) {
  const log = createMemoryTopicLog();
  const text = JSON.stringify({ protocol: "mcpx/v0.1", id: "e", kind: "mcp", payload: {}, ...fields });
  await log.append({ topic: "room", id: "e", from: "alice", at: 1, digest: "", text });
  return findReferred(createRoom("room", log, true, 1), "e");
}

const request = { jsonrpc: "2.0", id: 1, method: "m" };

test.each([
  ["a request", { to: ["bob"], payload: request }, { to: ["bob"], isRequest: true }],
  ["one by its long name", { kind: "mcp/request:m", to: ["bob"], payload: request }, { isRequest: true }],
  ["a notification", { payload: { jsonrpc: "2.0", method: "m" } }, { to: [], isRequest: false }],
  ["a response", { payload: { jsonrpc: "2.0", id: 1, result: {} } }, { isRequest: false }],
  ["a proposal", { kind: "mcp/proposal", to: ["b", "c"] }, { to: ["b", "c"], isRequest: false }],
  ["one by its dotted name", { kind: "mcp.proposal.tools/call", payload: request }, { isRequest: false }],
  ["a chat that looks like a request", { kind: "chat", payload: request }, { isRequest: false }],
])("[PL-3-2] the log tells whose it was and what: %s", async (_name, fields, expected) => {
  expect(await referred(fields)).toMatchObject({ from: "alice", ...expected });
});

test("[PL-3-2] what was trimmed, or is another topic's, is unknown", async () => {
  const log = createMemoryTopicLog();
  await log.append({ topic: "other", id: "e", from: "alice", at: 1, digest: "", text: '{"kind":"chat"}' });
  const room = createRoom("room", log, true, 0);
  expect(await findReferred(room, "e")).toBeUndefined();
  const other = createRoom("other", log, true, 1);
  expect(await findReferred(other, "e")).toMatchObject({ from: "alice" });
  await log.trim("other", { count: 0 }, 1);
  expect(await findReferred(other, "e")).toBeUndefined();
});

import { expect, test } from "vitest";
import { waitingLines } from "./waiting-lines.ts";

const call = {
  id: "c-1",
  tool: "files.delete\u001b[2J",
  expiresAt: 1_893_456_300,
  approveUrl: "http://127.0.0.1:6279/approve/c-1\u0007",
  state: "waiting",
} as const;
const now = { program: "mcpx", nowMs: 1_893_456_000_000 };
const until = new Date(1_893_456_300_000).toTimeString().slice(0, 8);

test("who has called is told that it waits, until when, and how to decide", () => {
  expect(waitingLines(call, now)).toEqual([
    "files.delete\\u001b[2J waits at its gate; the call was not made yet",
    "  gate     c-1",
    `  until    ${until}, 5m left`,
    "  decide   mcpx approve c-1",
    "           mcpx reject c-1 --reason TEXT",
    "           http://127.0.0.1:6279/approve/c-1\\u0007",
    "  see all  mcpx pending",
  ]);
});

test("a result that is held has happened, and nobody decides about a call under way", () => {
  expect(waitingLines({ ...call, tool: "t", state: "held" }, now)[0]).toBe(
    "t was called; its result waits for a release",
  );
  const underWay = waitingLines({ ...call, tool: "t", state: "under way" }, now).join("\n");
  expect(underWay).toContain("is being called");
  expect(underWay).not.toContain("approve c-1");
});

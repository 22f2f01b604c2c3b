import type { Proposal } from "@mcpx/client";
import { expect, test } from "vitest";
import { cardPost } from "./card-post.ts";

test("a card on a chat platform shows no secrets of its arguments, and everything else of them", () => {
  const params = { name: "login", arguments: { user: "old-mother", password: "hunter2hunter2" } };
  const proposal = {
    ...{ id: "p", proposer: "agent", targets: ["robot"], method: "tools/call", params, status: "pending" },
    ...{ createdAt: 0, expiresAt: 60_000, rejections: [], statuses: [] },
  } as Proposal;
  const view = {
    card: "1",
    proposal,
    proposer: undefined,
    hasButtons: true,
    isNotice: false,
    roomUrl: undefined,
    secrets: [],
  };
  const text = JSON.stringify(cardPost(view));
  expect(text).toContain("old-mother");
  expect(text).toContain("•••");
  expect(text).not.toContain("hunter2");
});

// Gates in a room: an agent with an unmodified client asks at the endpoint, people in the room see exactly what it wants,
// and a signature made there lets it go, once. Over real sockets.
import { join } from "node:path";
import { callSecrets, type Proposal, type RoomEnvelope } from "@mcpx/client";
import { digestOf, parseExact } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { cardPost } from "../../packages/bridges/src/cards/card-post.ts";
import { gateCard } from "../../packages/cli/src/gates/gate-card.ts";
import { roomGate } from "../../packages/cli/src/gates/room-gate-access.ts";
import { summaryOf } from "../../packages/console/src/ui/summary.ts";
import { confirm, endOf, gateSeen, gatesSeen, room, sign, startGateRoom } from "./support/gate-room.ts";

const waiting = /^Nothing has happened yet: papers\.shred was not called/;
const done = "shred is done";

test.for(["v1", "v2 modern"] as const)(
  "[B-GATE-1] [B-GATE-2] %s: asked at the endpoint, shown in the room, signed there, done once, told everywhere",
  async (kind) => {
    const house = await startGateRoom();
    const alice = await house.enter("alice");
    const agent = await house.agent("agent", kind);
    expect(await agent.call("papers.shred", { paper: "taxes", copies: 2 })).toMatch(waiting);
    const { proposal, notice } = await gateSeen(alice);
    const { body: gate } = await house.server.call(
      "GET",
      `/admin/gates/${notice.confirmation_id}`,
      await house.server.adminToken(),
    );
    expect(notice).toMatchObject({
      ...gate.terms,
      annotation: { mutable: true, reversible: false },
      approve_url: expect.stringMatching(new RegExp(`/approve/${notice.confirmation_id}$`)),
      approvers: 1,
      asked_by: "agent",
      why: "irreversible",
    });
    expect(await digestOf(parseExact(notice.arguments_text ?? ""))).toBe(notice.arguments_digest);
    expect(notice).not.toHaveProperty("last");
    expect(proposal).toMatchObject({
      id: `gate-${notice.confirmation_id}`,
      proposer: "tree",
      targets: ["tree"],
      method: "tools/call",
      params: { name: "papers.shred", arguments: { paper: "taxes", copies: 2 } },
      reason: "agent asks for papers.shred. The tool says that it cannot be undone.",
    });

    const proof = await sign(notice, "approve", house.keys.alice);
    expect(await confirm(alice, notice.confirmation_id, proof)).toMatchObject({
      content: [{ text: "alice has approved papers.shred; it is done." }],
      structuredContent: { status: "done", approved_by: ["alice"] },
    });
    expect(house.traces()).toEqual(['shred {"paper":"taxes","copies":2}']);
    expect(await endOf(alice, proposal)).toMatchObject({
      status: "fulfilled",
      fulfilment: { fulfiller: "tree", isChanged: false },
      result: { structuredContent: { status: "done", approved_by: ["alice"] } },
    });
    expect(await agent.call("papers.shred", { paper: "taxes", copies: 2 })).toBe(done);
    // What the tool has answered is the agent's.
    expect(JSON.stringify(alice.heard)).not.toContain(done);
    await expect(confirm(alice, notice.confirmation_id, proof)).rejects.toMatchObject({
      reason: "confirmation_used",
    });
    expect(house.traces()).toHaveLength(1);

    // The next one is compared with it.
    await agent.call("papers.shred", { paper: "letters", copies: 2, staple: true });
    expect((await gateSeen(alice)).notice.last).toEqual({
      at: expect.any(String),
      by: ["alice"],
      changes: [
        { path: "/paper", old: '"taxes"', new: '"letters"' },
        { path: "/staple", new: "true" },
      ],
      more: 0,
    });
  },
);

test("[B-GATE-1] what a tool's schema calls secret is shown on no card: not on a chat platform, at a terminal or in the timeline", async () => {
  const locksmith = { command: process.execPath, args: [join(import.meta.dirname, "support/locksmith.ts")] };
  const house = await startGateRoom({}, { mcpServers: { locksmith } });
  const alice = await house.enter("alice");
  const agent = await house.agent();
  await agent.call("locksmith.unlock", { owner: "gran", word: "opensesame" });
  const { proposal, notice } = await gateSeen(alice);
  expect(notice.secrets).toEqual(["/word"]);
  const tree = alice.room.peers.find(({ id }) => id === proposal.proposer);
  const view = { card: "1", proposer: tree, hasButtons: true, isNotice: false, roomUrl: undefined };
  const shown = (one: Proposal) => {
    const secrets = callSecrets(one, new Map(), alice.room.peers).places;
    return JSON.stringify(cardPost({ ...view, secrets, proposal: one }));
  };
  const gate = roomGate(alice.room, proposal);
  const lines = gate && gateCard(gate, { paint: (_, text) => text }, { nowMs: 0, isOpen: false });
  const line = summaryOf(alice.heard.find(({ id }) => id === proposal.id) as RoomEnvelope).text;
  for (const text of [
    shown(proposal),
    shown({ ...proposal, status: "withdrawn" }),
    lines?.join("\n"),
    line,
  ]) {
    expect(text).toContain("gran");
    expect(text).not.toContain("opensesame");
  }
  // The control: without the schema's word it is no secret by its name or shape.
  expect(shown({ ...proposal, mcpax: { ...notice, secrets: [] } })).toContain("opensesame");
});

test("[B-GATE-2] a signed no ends it, with its reason, and the agent hears it", async () => {
  const house = await startGateRoom();
  const alice = await house.enter("alice");
  const agent = await house.agent();
  await agent.call("papers.shred", { paper: "taxes" });
  const { proposal, notice } = await gateSeen(alice);
  const proof = await sign(notice, "reject", house.keys.alice, "not on a Friday");
  expect(await confirm(alice, notice.confirmation_id, proof)).toMatchObject({
    structuredContent: { status: "rejected", rejected_by: "alice", reason: "not on a Friday" },
  });
  expect(await endOf(alice, proposal)).toMatchObject({
    status: "rejected",
    rejections: [{ by: "tree", reason: "alice has rejected papers.shred: not on a Friday", isFinal: true }],
  });
  expect(await agent.call("papers.shred", { paper: "taxes" })).toContain(
    "alice has rejected this call: not on a Friday",
  );
  expect(house.traces()).toEqual([]);
});

test("[B-GATE-2] the room's own no: of a stranger it is advice, of an approver it ends the gate", async () => {
  const house = await startGateRoom();
  const [alice, stranger] = [await house.enter("alice"), await house.enter("stranger")];
  const agent = await house.agent();
  await agent.call("papers.shred", { paper: "taxes" });
  const { proposal } = await gateSeen(alice);
  await gateSeen(stranger);
  await stranger.room.proposals.reject(proposal, { reason: "I do not like it" });
  const advice = () => house.audited("gate.advice");
  await expect
    .poll(advice)
    .toMatchObject([{ actor: "stranger", detail: { room, reason: "I do not like it" } }]);
  expect(await agent.call("papers.shred", { paper: "taxes" })).toMatch(waiting);
  expect(alice.room.proposals.get(proposal.id)).toMatchObject({
    status: "pending",
    rejections: [{ by: "stranger", isFinal: false }],
  });

  await alice.room.proposals.reject(proposal, { reason: "these are mine" });
  expect(await endOf(stranger, proposal)).toMatchObject({ status: "rejected" });
  expect(await agent.call("papers.shred", { paper: "taxes" })).toContain(
    "alice has rejected this call: these are mine",
  );
  expect(await house.audited("gate.reject")).toMatchObject([{ actor: "alice", detail: { room } }]);
  expect(house.traces()).toEqual([]);
});

test("[B-GATE-1] nobody decides: the room is told when its time is over, and not before", async () => {
  const house = await startGateRoom({ timeout: 2_000 });
  const alice = await house.enter("alice");
  const agent = await house.agent();
  await agent.call("papers.shred", { paper: "taxes" });
  const { proposal, notice } = await gateSeen(alice);
  expect(await endOf(alice, proposal)).toMatchObject({ status: "withdrawn" });
  expect(Date.now()).toBeGreaterThanOrEqual(notice.expires_at * 1_000);
  expect(alice.heard.at(-1)?.payload).toMatchObject({
    reason: "No approver decided about papers.shred in time.",
    mcpax: { status: "expired" },
  });
  const proof = await sign(notice, "approve", house.keys.alice);
  await expect(confirm(alice, notice.confirmation_id, proof)).rejects.toMatchObject({
    reason: "confirmation_expired",
  });
  expect(house.traces()).toEqual([]);
});

test("[B-GATE-2] two approvers from two places: the page and the room show the same gate", async () => {
  const house = await startGateRoom({ quorum: 2 });
  const [alice, bob] = [await house.enter("alice"), await house.enter("bob")];
  const agent = await house.agent();
  await agent.call("papers.shred", { paper: "taxes" });
  const { proposal, notice } = await gateSeen(alice);
  const { confirmation_id } = notice;
  const first = await house.atPage(confirmation_id, await sign(notice, "approve", house.keys.bob));
  expect(first).toMatchObject({ status: 200, body: { status: "pending" } });
  await expect
    .poll(() => alice.room.proposals.get(proposal.id)?.statuses)
    .toEqual([{ by: "tree", status: "considering", reason: "bob has approved papers.shred; 1 of 2." }]);
  expect(house.traces()).toEqual([]);
  // One key counts once, wherever it comes from.
  const again = await sign(notice, "approve", house.keys.bob);
  await expect(confirm(bob, confirmation_id, again)).rejects.toMatchObject({ reason: "confirmation_used" });
  expect(house.traces()).toEqual([]);
  await confirm(alice, confirmation_id, await sign(notice, "approve", house.keys.alice));
  expect(await endOf(bob, proposal)).toMatchObject({
    result: { structuredContent: { status: "done", approved_by: ["bob", "alice"] } },
  });
  expect(house.traces()).toHaveLength(1);
});

test("[B-GATE-2] the page decides while the room looks on; the room's proof comes too late", async () => {
  const house = await startGateRoom();
  const alice = await house.enter("alice");
  const agent = await house.agent();
  await agent.call("papers.shred", { paper: "taxes" });
  const { proposal, notice } = await gateSeen(alice);
  await house.atPage(notice.confirmation_id, await sign(notice, "approve", house.keys.alice));
  expect(await endOf(alice, proposal)).toMatchObject({
    status: "fulfilled",
    result: { structuredContent: { status: "done" } },
  });
  const late = await sign(notice, "reject", house.keys.bob);
  await expect(confirm(alice, notice.confirmation_id, late)).rejects.toMatchObject({
    reason: "confirmation_used",
  });
  expect(house.traces()).toHaveLength(1);
});

test("[B-GATE-1] arguments that no envelope can hold are named by their digest, and read elsewhere", async () => {
  const house = await startGateRoom();
  const alice = await house.enter("alice");
  const agent = await house.agent();
  const paper = "x".repeat(300_000);
  expect(await agent.call("papers.shred", { paper })).toMatch(waiting);
  const { proposal, notice } = await gateSeen(alice);
  expect(notice).not.toHaveProperty("arguments_text");
  expect(notice.arguments_digest).toBe(await digestOf({ paper }));
  expect(proposal.params).toEqual({ name: "papers.shred", arguments_digest: notice.arguments_digest });
  expect(proposal.reason).toContain(`do not fit into this room: read them at ${notice.approve_url}`);
  await confirm(alice, notice.confirmation_id, await sign(notice, "approve", house.keys.alice));
  expect(await endOf(alice, proposal)).toMatchObject({ status: "fulfilled" });
  expect(house.traces()).toHaveLength(1);
});

test("[B-GATE-1] gates of many callers at once: each is shown once", async () => {
  const house = await startGateRoom();
  const alice = await house.enter("alice");
  const agents = await Promise.all(["a1", "a2", "a3"].map((id) => house.agent(id)));
  await Promise.all(agents.map((agent) => agent.call("papers.shred", { paper: "taxes" })));
  // Asking again joins.
  await Promise.all(agents.map((agent) => agent.call("papers.shred", { paper: "taxes" })));
  const seen = await gatesSeen(alice, 3);
  expect(seen.map(({ notice }) => notice.asked_by).sort()).toEqual(["a1", "a2", "a3"]);
});

test("[B-GATE-2] a held result is not shown in the room: it hears that there is one, and its release", async () => {
  const house = await startGateRoom({
    rules: [
      { tools: "papers.look", action: "allow", holdResult: true },
      { tools: "papers.shred", action: "ask", holdResult: true },
    ],
  });
  const alice = await house.enter("alice");
  const agent = await house.agent();
  await agent.call("papers.look", {});
  await agent.call("papers.shred", { paper: "taxes" });
  // The one that waits for nobody is no proposal.
  const { proposal, notice } = await gateSeen(alice);
  expect(notice.tool).toBe("papers.shred");
  const id = notice.confirmation_id;
  const held = await confirm(alice, id, await sign(notice, "approve", house.keys.alice));
  expect(held).toMatchObject({ structuredContent: { status: "held" } });
  expect(await endOf(alice, proposal)).toMatchObject({ result: { structuredContent: { status: "held" } } });
  const token = await house.server.adminToken();
  const { body: gate } = await house.server.call("GET", `/admin/gates/${id}`, token);
  expect(gate.terms.phase).toBe("result");
  const released = await confirm(alice, id, await sign(gate.terms, "approve", house.keys.alice));
  expect(released).toMatchObject({ structuredContent: { status: "done" } });
  expect(await agent.call("papers.shred", { paper: "taxes" })).toBe(done);
  const said = JSON.stringify(alice.heard);
  for (const result of [done, "look is done"]) expect(said).not.toContain(result);
});

// Members of the room that want a call to happen without an approval, and rooms that come and go under their gates.
import { joinRoom } from "@mcpx/client";
import { readGateNotice, statementOf } from "@mcpx/protocol";
import { expect, onTestFinished, test } from "vitest";
import { roomGate, roomGateAccess } from "../../packages/cli/src/gates/room-gate-access.ts";
import { rejection } from "../client/support/house.ts";
import { mintTokens } from "../faults/support/tokens.ts";
import {
  confirm,
  endOf,
  gateSeen,
  gatesSeen,
  type Member,
  newKey,
  room,
  sign,
  startGateRoom,
} from "./support/gate-room.ts";
import { startGated } from "./support/gated.ts";

/** Many commands, each a process of its own. */
const slow = { timeout: 120_000 };

const shred = (paper: string) => ({ name: "papers.shred", arguments: { paper } });

test("[B-GATE-2] [AX-11.3-6] whoever asks approves nothing of it: not with an anchor's key, not by doing it again", async () => {
  const house = await startGateRoom();
  // An insider: their own key is an anchor, under another name.
  const mallory = await house.enter("mallory", { tools: ["papers.**"] }, { key: house.keys.alice });
  const alice = await house.enter("alice");
  const stopped = await mallory.room.peer("tree").callTool("papers.shred", { paper: "taxes" });
  expect(stopped).toMatchObject({ structuredContent: { status: "confirmation_required" } });
  const { proposal, notice } = await gateSeen(mallory);
  const { confirmation_id } = notice;
  const own = confirm(mallory, confirmation_id, await sign(notice, "approve", house.keys.alice));
  await expect(own).rejects.toMatchObject({ reason: "self_approval" });

  // Fulfilling is calling oneself: it joins the gate, and opens nothing.
  const fulfilled = await mallory.room.proposals.fulfil(proposal);
  expect(fulfilled).toMatchObject({ structuredContent: { confirmation_id } });
  expect(alice.room.proposals.get(proposal.id)?.status).toBe("pending");
  // With other arguments it is another call, and another gate.
  const changed = await mallory.room.proposals.fulfil(proposal, { params: shred("everything") });
  expect(changed).toMatchObject({ structuredContent: { status: "confirmation_required" } });
  expect(await gatesSeen(alice, 2)).toHaveLength(2);
  expect(house.traces()).toEqual([]);

  // Control: it is the signature of somebody else that is wanted.
  await confirm(mallory, confirmation_id, await sign(notice, "approve", house.keys.bob));
  await endOf(alice, proposal);
  expect(house.traces()).toEqual(['shred {"paper":"taxes"}']);
});

test("[B-GATE-2] [AX-11.3-2] proofs for other calls, of strangers and used ones let nothing go", async () => {
  const house = await startGateRoom();
  const mallory = await house.enter("mallory");
  const agent = await house.agent();
  await agent.call("papers.shred", { paper: "drafts" });
  const { notice: first } = await gateSeen(mallory);
  const used = await sign(first, "approve", house.keys.alice);
  await confirm(mallory, first.confirmation_id, used);
  await expect.poll(() => mallory.room.proposals.pending()).toEqual([]);
  expect(house.traces()).toHaveLength(1);

  await agent.call("papers.shred", { paper: "taxes" });
  const { notice } = await gateSeen(mallory);
  const id = notice.confirmation_id;
  const { alice } = house.keys;
  const otherDigest = { ...notice, arguments_digest: first.arguments_digest };
  const wrong = [
    used,
    await sign(notice, "approve", newKey()),
    await sign(otherDigest, "approve", alice),
    await sign({ ...notice, tool: "papers.look" }, "approve", alice),
    await sign({ ...notice, aggregator_id: "another" }, "approve", alice),
    JSON.stringify(statementOf(notice, "approve")),
  ];
  for (const proof of wrong) {
    expect(await rejection(confirm(mallory, id, proof)), proof).toMatchObject({ reason: "bad_proof" });
  }
  expect(house.traces()).toHaveLength(1);
  await confirm(mallory, id, await sign(notice, "approve", alice));
  expect(house.traces()).toEqual(['shred {"paper":"drafts"}', 'shred {"paper":"taxes"}']);
});

test("[B-GATE-2] a proposal somebody else makes up is nobody's gate, and its end ends nothing", async () => {
  const house = await startGateRoom();
  const [mallory, alice] = [await house.enter("mallory"), await house.enter("alice")];
  const agent = await house.agent();
  await agent.call("papers.shred", { paper: "taxes" });
  const { proposal, notice } = await gateSeen(alice);
  const forged = { method: proposal.method, params: proposal.params, mcpax: { ...notice } };
  await mallory.room.publish({ kind: "mcp/proposal", id: "forged", to: ["mallory"], payload: forged });
  await gatesSeen(alice, 2);
  const made = alice.room.proposals.get("forged");
  if (made === undefined) throw new Error("it was not seen");
  await alice.room.proposals.reject(made, { reason: "not this one" });
  // Nor does the end of the real one in words of somebody else count anywhere.
  const about = { to: ["tree"], correlation_id: proposal.id };
  await rejection(mallory.room.publish({ kind: "mcpx.withdraw.proposal", ...about, payload: {} }));
  expect(await agent.call("papers.shred", { paper: "taxes" })).toContain("papers.shred was not called");
  expect(alice.room.proposals.get(proposal.id)?.status).toBe("pending");
  expect(await house.audited("gate.reject")).toEqual([]);
  // Control.
  await alice.room.proposals.reject(proposal, { reason: "but this one" });
  expect(await endOf(alice, proposal)).toMatchObject({ status: "rejected" });
});

test("[B-GATE-1] [AX-11.3-2] a forged card collects no signature: only the gateway's own tree shows gates", async () => {
  const house = await startGateRoom();
  const mallory = await house.enter("mallory", { topics: ["**"], tools: ["papers.**"] });
  const alice = await house.enter("alice");
  await mallory.room.peer("tree").callTool("papers.shred", { paper: "taxes" });
  const { notice } = await gateSeen(alice);
  // The terms of the real gate of its own call, in another room, with a false asker and harmless words around them.
  const token = await house.server.token({ sub: "mallory", topics: ["**"], tools: ["papers.**"] });
  const enter = (id: string, given: string) =>
    joinRoom({ url: house.server.url, topic: "lobby", token: given, id });
  const liar = await enter("mallory", token);
  const victim = await joinRoom({
    url: house.server.url,
    topic: "lobby",
    token: await house.server.token({ sub: "alice", topics: ["**"] }),
  });
  onTestFinished(async () => {
    await Promise.all([liar.close(), victim.close()]);
  });
  const asked: unknown[] = [];
  await liar.serve(
    () => ({
      async connect(transport: { onmessage?: unknown; start?(): Promise<void> }) {
        transport.onmessage = (message: unknown) => void asked.push(message);
      },
      close: async () => {},
    }),
    { methods: ["mcpax/confirm"] } as never,
  );
  const id = `gate-${notice.confirmation_id}`;
  const words = { why: "reversible", annotation: { mutable: false }, last: undefined };
  for (const mcpax of [
    { ...notice, ...words },
    { ...notice, ...words, asked_by: "friend" },
  ]) {
    const payload = { method: "tools/call", params: shred("taxes"), reason: "it only reads", mcpax };
    const forged = mcpax.asked_by === "friend" ? `${id}x` : id;
    await liar.publish({ kind: "mcp/proposal", id: forged, to: ["mallory"], payload });
    await expect.poll(() => victim.proposals.get(forged)?.id).toBe(forged);
    const proposal = victim.proposals.get(forged);
    if (proposal === undefined) throw new Error("it was not seen");
    expect(roomGate(victim, proposal)).toBeUndefined();
    await expect(roomGateAccess(victim).find(notice.confirmation_id)).rejects.toThrow("there is no gate");
    await expect(roomGateAccess(victim).decide(notice.confirmation_id, "proof")).rejects.toThrow();
  }
  expect(asked).toEqual([]);
  expect(victim.peers.map(({ id: peer, own }) => [peer, own])).toEqual([["mallory", undefined]]);
  // Another asker than the one that is signed is no gate in any words, and no signature for the false one counts.
  expect(readGateNotice({ ...notice, asked_by: "friend" })).toBeUndefined();
  const false_ = await sign({ ...notice, asker: "friend" }, "approve", house.keys.alice);
  await expect(confirm(mallory, notice.confirmation_id, false_)).rejects.toMatchObject({
    reason: "bad_proof",
  });
  expect(house.traces()).toEqual([]);
  // Control: where the tree itself shows it, it is a gate, and its approver's signature goes to the tree.
  const real = alice.room.proposals.get(id);
  if (real === undefined) throw new Error("it was not seen");
  expect(roomGate(alice.room, real)).toMatchObject({ principal: "mallory", terms: { asker: "mallory" } });
  const access = roomGateAccess(alice.room);
  const gate = await access.find(notice.confirmation_id);
  await access.decide(gate.id, await sign(gate.terms, "approve", house.keys.alice));
  await expect.poll(() => house.traces()).toEqual(['shred {"paper":"taxes"}']);
});

test("[B-GATE-2] in open mode an approver's name that was only asserted gives advice", async () => {
  const house = await startGateRoom();
  await house.server.restart({ config: house.config, gateway: { mode: "open" } });
  const agent = await house.agent();
  await agent.call("papers.shred", { paper: "taxes" });
  const token = await house.server.token({ topics: [room] });
  const asserted = await joinRoom({ url: house.server.url, topic: room, token, id: "alice" });
  onTestFinished(() => asserted.close());
  const seen = await gateSeen({ room: asserted, heard: [] });
  await asserted.proposals.reject(seen.proposal, { reason: "I am alice" });
  await expect.poll(() => house.audited("gate.advice")).toMatchObject([{ actor: "alice" }]);
  expect(asserted.proposals.get(seen.proposal.id)?.status).toBe("pending");
  await asserted.close();
  // Control: with a token that says so, it is her no.
  const alice = await house.enter("alice");
  await alice.room.proposals.reject(seen.proposal, { reason: "it is me" });
  expect(await endOf(alice, seen.proposal)).toMatchObject({ status: "rejected" });
});

/** How often a gate was shown, by everything the room remembers. */
async function shownIn({ room }: Member): Promise<number> {
  const { envelopes } = await room.history({ limit: 100 });
  return envelopes.filter(({ kind }) => kind === "mcp/proposal").length;
}

test("[B-GATE-1] [AX-11.3-5] the gateway restarts between asking and deciding: shown once, done once", async () => {
  const house = await startGateRoom();
  const agent = await house.agent();
  await agent.call("papers.shred", { paper: "taxes" });
  const before = await house.enter("before");
  const { proposal, notice } = await gateSeen(before);
  await before.room.close();
  await house.server.restart();
  const alice = await house.enter("alice");
  await gateSeen(alice);
  expect(await shownIn(alice)).toBe(1);
  await confirm(alice, notice.confirmation_id, await sign(notice, "approve", house.keys.alice));
  expect(await endOf(alice, proposal)).toMatchObject({ result: { structuredContent: { status: "done" } } });
  expect(house.traces()).toEqual(['shred {"paper":"taxes"}']);
});

test("[B-GATE-1] [B-GATE-2] what was asked and decided without the room is put right when the tree is back", async () => {
  const house = await startGateRoom();
  const { config } = house;
  const { room: _, ...gates } = config.gates;
  const agent = await house.agent();
  await agent.call("papers.shred", { paper: "taxes" });
  await agent.call("papers.shred", { paper: "letters" });
  const before = await house.enter("before");
  const [taxes, letters] = (await gatesSeen(before, 2)).sort((a, b) =>
    String(b.notice.arguments_text).localeCompare(String(a.notice.arguments_text)),
  );
  if (taxes === undefined || letters === undefined) throw new Error("two were asked for");
  await house.server.restart({ config: { ...config, gates: gates as typeof config.gates } });
  // Gates work without a room as with it.
  const proof = await sign(taxes.notice, "approve", house.keys.alice);
  expect(await house.atPage(taxes.notice.confirmation_id, proof)).toMatchObject({ body: { status: "done" } });
  const no = await sign(letters.notice, "reject", house.keys.bob, "no");
  await house.atPage(letters.notice.confirmation_id, no);
  const again = await house.agent();
  await again.call("papers.shred", { paper: "plans" });
  await house.server.restart({ config });
  const alice = await house.enter("alice");
  expect(await endOf(alice, taxes.proposal)).toMatchObject({
    result: { structuredContent: { status: "done", approved_by: ["alice"] } },
  });
  expect(await endOf(alice, letters.proposal)).toMatchObject({ status: "rejected" });
  expect((await gateSeen(alice)).notice.arguments_text).toBe('{"paper":"plans"}');
  expect(house.traces()).toEqual(['shred {"paper":"taxes"}']);
});

test("[B-GATE-1] a room without history shows gates too; one that is not to be had hinders nothing", async () => {
  const house = await startGateRoom();
  const { config } = house;
  await house.server.restart({ config, gateway: { topics: { ops: { history: false } } } });
  expect(house.server.logged.join("")).toContain("gate room keeps no history");
  const alice = await house.enter("alice");
  const agent = await house.agent();
  await agent.call("papers.shred", { paper: "taxes" });
  const { proposal, notice } = await gateSeen(alice);
  await confirm(alice, notice.confirmation_id, await sign(notice, "approve", house.keys.alice));
  await endOf(alice, proposal);

  const gates = { ...config.gates, room: "nowhere" };
  await house.server.restart({ config: { ...config, gates }, gateway: { createTopics: "configured" } });
  expect(house.server.logged.join("")).toContain("tree could not join a room; gates are not shown in it");
  const later = await house.agent();
  expect(await later.call("papers.shred", { paper: "notes" })).toContain("papers.shred was not called");
  const [gate] = (
    await house.server.call("GET", "/admin/gates?status=pending", await house.server.adminToken())
  ).body.gates;
  await house.atPage(gate.id, await sign(gate.terms, "approve", house.keys.alice));
  expect(house.traces()).toEqual(['shred {"paper":"taxes"}', 'shred {"paper":"notes"}']);
});

test(
  "[B-GATE-2] [AX-11.3-5] killed while the call is under way: the room hears that nobody knows",
  slow,
  async () => {
    const gated = await startGated({ room });
    const enter = async (id: string): Promise<Member> => {
      const [token = ""] = await mintTokens(gated.dataDir, [{ sub: id, topics: [room], level: "full" }]);
      const joined = await joinRoom({ url: gated.url(), topic: room, token });
      onTestFinished(() => joined.close());
      return { room: joined, heard: [] };
    };
    const agent = await gated.agent("agent");
    await agent.call("papers.stall", {});
    const before = await enter("before");
    const { proposal, notice } = await gateSeen(before);
    const approving = gated.run("approve", notice.confirmation_id, "--yes");
    await expect.poll(() => before.room.proposals.get(proposal.id)?.status).toBe("fulfilled");
    await expect.poll(gated.traces).toEqual(["stall {}"]);
    await gated.end("SIGKILL");
    await approving;
    await gated.start();
    const later = await enter("later");
    expect(await endOf(later, proposal)).toMatchObject({
      status: "fulfilled",
      result: { structuredContent: { status: "indeterminate", approved_by: ["alice"] } },
    });
    expect(gated.traces()).toEqual(["stall {}"]);
  },
);

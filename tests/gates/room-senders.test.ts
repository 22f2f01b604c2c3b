// Members of a room who want more of the tree than the connection they ask by has, what is for others, or all of its time.
import type { RunningGateway } from "@mcpx/gateway";
import { expect, onTestFinished, test } from "vitest";
import { enter } from "../support/enter.ts";
import { enterVirtually } from "../support/enter-virtually.ts";
import type { TestClient } from "../support/test-client.ts";
import { confirm, gateSeen, type Member, room, sign, startGateRoom } from "./support/gate-room.ts";

const waiting = { structuredContent: { status: "confirmation_required" } };

const request = (id: number, method: string, params: object = {}) => ({
  kind: "mcp",
  to: ["tree"],
  payload: { jsonrpc: "2.0", id, method, params },
});

/** Sends, and is gone before the tree has seen it. */
function sendAndLeave(client: TestClient, envelope: Record<string, unknown>): string {
  const id = client.send(envelope);
  client.ws.close();
  return id;
}

async function answerTo(id: string, { heard }: Member) {
  const answer = () => heard.find((one) => one.from === "tree" && one.correlation_id === id);
  await expect.poll(answer).toBeDefined();
  return answer()?.payload;
}

test("[B-TREE-1] who asks by a narrow connection and leaves has not asked by the broad one", async () => {
  const house = await startGateRoom();
  const member = await house.enter("member", { tools: ["papers.**"] });
  await member.room.peer("tree").listTools();
  for (let n = 0; n < 5; n += 1) {
    const narrow = await enterVirtually(house.server, "member", { topic: room, tools: ["other.*"] });
    const look = request(1_000 + n, "tools/call", { name: "papers.look", arguments: {} });
    const answer = await answerTo(sendAndLeave(narrow, look), member);
    expect(answer).toMatchObject({ error: { code: -32601 } });
  }
  expect(house.traces()).toEqual([]);
  // Control: the broad one asks itself.
  await member.room.peer("tree").callTool("papers.look", {});
  expect(house.traces()).toHaveLength(1);
  // So does one who leaves, with no more than it had.
  const broad = await enterVirtually(house.server, "member", { topic: room, tools: ["papers.**"] });
  const look = request(2_000, "tools/call", { name: "papers.look", arguments: {} });
  expect(await answerTo(sendAndLeave(broad, look), member)).toHaveProperty("result");
  expect(house.traces()).toHaveLength(2);
});

test("[AX-11.3-6] [B-GATE-2] a key goes with what was asked, also where its connection has left", async () => {
  const house = await startGateRoom();
  const mallory = await house.enter("mallory", { tools: ["papers.**"] });
  await mallory.room.peer("tree").listTools();
  const keyed = await enterVirtually(house.server, "mallory", { topic: room, tools: ["papers.**"] });
  await keyed.answer(keyed.send({ kind: "system", payload: { type: "key", jwk: house.keys.alice.jwk } }));
  const shred = request(1_000, "tools/call", { name: "papers.shred", arguments: { paper: "taxes" } });
  expect(await answerTo(sendAndLeave(keyed, shred), mallory)).toMatchObject({ result: waiting });
  const { notice } = await gateSeen(mallory);
  const own = confirm(mallory, notice.confirmation_id, await sign(notice, "approve", house.keys.alice));
  await expect(own).rejects.toMatchObject({ reason: "self_approval" });
  expect(house.traces()).toEqual([]);
  // Control: another's key is another's.
  await confirm(mallory, notice.confirmation_id, await sign(notice, "approve", house.keys.bob));
  await expect.poll(house.traces).toHaveLength(1);
});

test("[B-TREE-1] a request of a token that was revoked before the tree saw it is not done", async () => {
  const house = await startGateRoom();
  const member = await house.enter("member", { tools: ["papers.**"] });
  await member.room.peer("tree").listTools();
  const envelopes = member.heard.filter(({ from }) => from === "member");
  const last = envelopes.at(-1)?.id ?? "";
  const { sendersOf } = house.server.rooms as RunningGateway;
  const [sender] = sendersOf(room, "member", last);
  expect(sender).toMatchObject({ id: "member", tools: ["papers.**"] });
  expect(sendersOf(room, "somebody else", last)).toEqual([]);
  expect(sendersOf(room, "member", "never sent")).toEqual([]);
  await house.server.call("DELETE", `/admin/tokens/${sender?.jti}`, await house.server.adminToken());
  await expect.poll(() => sendersOf(room, "member", last)).toEqual([]);
});

test("[B-GATE-2] a no of somebody who is no longer there is advice, whatever their name", async () => {
  const house = await startGateRoom();
  const stranger = await house.enter("stranger");
  const agent = await house.agent();
  await agent.call("papers.shred", { paper: "taxes" });
  const { proposal } = await gateSeen(stranger);
  const alice = await enterVirtually(house.server, "alice", { topic: room });
  sendAndLeave(alice, {
    kind: "mcpx.reject.proposal",
    correlation_id: proposal.id,
    payload: { reason: "no" },
  });
  await expect.poll(() => house.audited("gate.advice")).toMatchObject([{ actor: "alice" }]);
  expect(await house.audited("gate.reject")).toEqual([]);
  expect(stranger.room.proposals.get(proposal.id)?.status).toBe("pending");
});

test("[B-TREE-1] where to sign in is told nobody in a room", async () => {
  const house = await startGateRoom();
  const notes = { url: "http://127.0.0.1:9/mcp", oauth: { per: "user" as const } };
  await house.server.restart({
    config: { ...house.config, mcpServers: { ...house.config.mcpServers, notes } },
  });
  const eve = await house.enter("eve");
  const alice = await house.enter("alice", { tools: ["notes.**", "mcpax.status"] });
  const tree = alice.room.peer("tree");
  const told = await tree.callTool("notes.sign_in", {});
  expect(told).toMatchObject({ isError: true, structuredContent: { status: "sign_in_required" } });
  expect(JSON.stringify(told)).toContain("at /mcp and sign in there");
  const { structuredContent } = await tree.callTool("mcpax.status", {});
  expect(structuredContent).toMatchObject({
    servers: expect.arrayContaining([expect.objectContaining({ name: "notes", state: "needs sign-in" })]),
  });
  await expect.poll(() => eve.heard.filter(({ from }) => from === "tree").length).toBeGreaterThan(2);
  expect(JSON.stringify(eve.heard)).not.toMatch(/oauth\/start|sign_in_url/);
  // Control: at the endpoint it is told.
  const agent = await house.agent("alice");
  expect(await agent.call("notes.sign_in", {})).toContain("/oauth/start/");
});

test("[B-TREE-1] [X0-9-4] whoever floods the tree is refused, and everybody else is served", async () => {
  const house = await startGateRoom();
  // Of everybody 40 at once; the tree takes 20 of one.
  await house.server.restart({ config: house.config, limits: { envelopesPerSecondFull: 10 } });
  const victim = await house.enter("victim", { tools: ["papers.**"] });
  await victim.room.peer("tree").listTools();
  const flooders = await Promise.all(
    ["a", "b", "c"].map((id) => enter(house.server, id, { topic: room, level: "full" })),
  );
  for (const client of flooders) onTestFinished(() => client.ws.close());
  const sent = new Set(
    flooders.flatMap((client) => Array.from({ length: 36 }, (_, n) => client.send(request(n, "ping")))),
  );
  const look = victim.room.peer("tree").callTool("papers.look", {}, { timeoutMs: 3_000 });
  expect(await look).toMatchObject({ content: [{ text: "look is done" }] });
  const answers = () =>
    victim.heard.filter((one) => one.from === "tree" && sent.has(one.correlation_id ?? ""));
  await expect.poll(() => answers().length, { timeout: 3_000 }).toBe(sent.size);
  const refused = answers().filter(({ payload }) => payload.error !== undefined);
  expect(refused.length).toBeGreaterThan(30);
  expect(refused[0]?.payload.error).toMatchObject({
    code: 42901,
    data: { reason: "rate_limited", retry_after_ms: expect.any(Number) },
  });
});

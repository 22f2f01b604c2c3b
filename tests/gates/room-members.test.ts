// The tree as a participant of a room: its members have it as an MCP server, each with the tools of their own token.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { joinRoom } from "@mcpx/client";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { expect, onTestFinished, test } from "vitest";
import WebSocket from "ws";
import { rejection } from "../client/support/house.ts";
import { enterVirtually, enterVirtuallyWith } from "../support/enter-virtually.ts";
import { programPath } from "../support/programs.ts";
import { confirm, endOf, gateSeen, gatesSeen, room, sign, startGateRoom } from "./support/gate-room.ts";

const clerk = programPath("tests/gates/support/clerk.ts");

async function startOffice() {
  const dir = mkdtempSync(join(tmpdir(), "mcpx-office-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const file = join(dir, "said");
  const server = { command: process.execPath, args: [clerk, file], trusted: true };
  const house = await startGateRoom();
  await house.server.restart({
    config: { ...house.config, mcpServers: { ...house.config.mcpServers, clerk: server } },
  });
  return { ...house, said: () => (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : []) };
}

const textOf = (result: { content?: unknown }) => (result.content as { text: string }[])[0]?.text;

test("[B-TREE-1] members see and call what their own token names, and nothing else", async () => {
  const house = await startGateRoom();
  const reader = await house.enter("reader", { tools: ["papers.look"] });
  const nobody = await house.enter("nobody");
  const tree = reader.room.peer("tree");
  expect(tree.participant).toMatchObject({ kind: "robot", privilege: "full" });
  expect((await tree.listTools()).map(({ name }) => name)).toEqual(["papers.look"]);
  expect(textOf(await tree.callTool("papers.look", { paper: "taxes" }))).toBe("look is done");
  expect(await rejection(tree.callTool("papers.shred", {}))).toMatchObject({ code: -32601 });
  expect(await nobody.room.peer("tree").listTools()).toEqual([]);
  expect(await rejection(nobody.room.peer("tree").callTool("papers.look", {}))).toMatchObject({
    code: -32601,
  });
  expect(house.traces()).toEqual(['look {"paper":"taxes"}']);
  // Resources and whatever else a tree can do are not for rooms.
  expect(await rejection(tree.request("resources/list"))).toMatchObject({ reason: "not_served" });
});

test("[B-TREE-1] progress, cancelling and changed lists pass; the official client works over the room", async () => {
  const house = await startOffice();
  const member = await house.enter("member", { tools: ["clerk.**"] });
  const tree = member.room.peer("tree");
  const heard: unknown[] = [];
  const counted = await tree.callTool("clerk.count", {}, { onProgress: (news) => heard.push(news) });
  expect(textOf(counted)).toBe("count is done");
  // Of several at once the newest is told.
  expect(heard.at(-1)).toMatchObject({ progress: expect.any(Number), total: 3 });

  const abort = new AbortController();
  const call = rejection(tree.callTool("clerk.wait", {}, { signal: abort.signal }));
  await expect.poll(house.said).toEqual(["waits"]);
  abort.abort(new Error("no longer"));
  expect((await call).message).toBe("no longer");
  await expect.poll(house.said).toEqual(["waits", "was told not to"]);

  const client = new Client({ name: "member", version: "1" });
  await client.connect(member.room.transport("tree") as never);
  const names = async () => (await client.listTools()).tools.map(({ name }) => name);
  expect(await names()).toEqual(["clerk.count", "clerk.learn", "clerk.shout", "clerk.wait"]);
  const changed = new Promise<void>((resolve) => {
    client.fallbackNotificationHandler = async ({ method }) => {
      if (method === "notifications/tools/list_changed") resolve();
    };
  });
  await client.callTool({ name: "clerk.learn" });
  await changed;
  expect(await names()).toContain("clerk.learned");
  await client.close();
});

test("[B-TREE-1] a member with several connections has the rights of the least of them", async () => {
  const house = await startGateRoom();
  const member = await house.enter("member", { tools: ["papers.**"] });
  const names = async () => (await member.room.peer("tree").listTools()).map(({ name }) => name);
  expect(await names()).toContain("papers.shred");
  const narrow = await enterVirtually(house.server, "member", {
    topic: room,
    tools: ["papers.look"],
  });
  expect(await names()).toEqual(["papers.look"]);
  narrow.ws.close();
  await expect.poll(names).toContain("papers.shred");
});

test("[B-TREE-1] nobody enters under the tree's id, whatever their token says", async () => {
  const house = await startGateRoom();
  const token = await house.server.token({ sub: "tree", topics: ["**"], level: "full" });
  const own = { code: "bad_request", detail: "this id is the gateway's own" };
  await expect(enterVirtuallyWith(house.server, token, { topic: room })).rejects.toMatchObject(own);
  const url = `${house.server.url}/v0/ws?topic=${room}`;
  const status = await new Promise((resolve) => {
    const socket = new WebSocket(url, { headers: { authorization: `Bearer ${token}` } });
    socket.on("unexpected-response", (_request, response) => resolve(response.statusCode));
    socket.on("open", () => resolve("it was let in"));
  });
  expect(status).toBe(400);
  // Control: another id with the same rights comes in.
  await house.enter("trees");
});

test("[B-GATE-1] [AX-11.3-6] a call from the room waits as any other; whoever fulfils is who asks", async () => {
  const house = await startGateRoom();
  const alice = await house.enter("alice", { tools: ["papers.**"] });
  const novice = await house.enter("novice", { level: "restricted", tools: ["papers.**"] });
  // The gateway lets no restricted member call; what it proposes is done by somebody, in their own name.
  const wish = novice.room.propose({
    to: "tree",
    method: "tools/call",
    params: { name: "papers.shred", arguments: { paper: "taxes" } },
  });
  await expect.poll(() => alice.room.proposals.get(wish.id)?.status).toBe("pending");
  const proposal = alice.room.proposals.get(wish.id);
  if (proposal === undefined) throw new Error("it was not seen");
  const answer = await alice.room.proposals.fulfil(proposal);
  expect(answer).toMatchObject({ structuredContent: { status: "confirmation_required" } });
  const { notice, proposal: gate } = await gateSeen(alice);
  expect(notice.asked_by).toBe("alice");
  const { confirmation_id } = notice;
  const own = confirm(alice, confirmation_id, await sign(notice, "approve", house.keys.alice));
  await expect(own).rejects.toMatchObject({ reason: "self_approval" });
  expect(house.traces()).toEqual([]);
  await confirm(alice, confirmation_id, await sign(notice, "approve", house.keys.bob));
  await endOf(alice, gate);
  expect(house.traces()).toEqual(['shred {"paper":"taxes"}']);
});

test("[B-TREE-1] `topics.NAME.tree` puts the tree into other rooms, without its gates", async () => {
  const house = await startGateRoom({}, { topics: { workshop: { tree: true } } });
  const token = await house.server.token({
    sub: "member",
    topics: ["workshop"],
    tools: ["**"],
    level: "full",
  });
  const workshop = await joinRoom({ url: house.server.url, topic: "workshop", token });
  onTestFinished(() => workshop.close());
  const alice = await house.enter("alice");
  const stopped = await workshop.peer("tree").callTool("papers.shred", { paper: "plans" });
  expect(stopped).toMatchObject({ structuredContent: { status: "confirmation_required" } });
  const [{ notice }] = (await gatesSeen(alice)) as [Awaited<ReturnType<typeof gateSeen>>];
  expect(notice.asked_by).toBe("member");
  expect(workshop.proposals.all()).toEqual([]);
  await confirm(alice, notice.confirmation_id, await sign(notice, "approve", house.keys.alice));
  const done = await workshop.peer("tree").callTool("papers.shred", { paper: "plans" });
  expect(textOf(done)).toBe("shred is done");
});

test("[B-TREE-1] what does not fit into a room is said to be too large, and the tree stays in it", async () => {
  const house = await startOffice();
  const member = await house.enter("member", { tools: ["clerk.**"] });
  const tree = member.room.peer("tree");
  const shout = async (chars: number) => textOf(await tree.callTool("clerk.shout", { chars }));
  expect(await shout(200_000)).toHaveLength(200_000);
  // Up to twice the limit a room refuses, beyond it closes the endpoint.
  for (const chars of [300_000, 2_000_000]) {
    expect(await shout(chars)).toBe("The tool was called, but its result is too large for this room.");
  }
  expect(await shout(3)).toBe("AAA");
});

test("[B-TREE-1] so many calls of one member are under way, in all its sessions, and the others are served", async () => {
  const house = await startOffice();
  const [member, other] = [
    await house.enter("member", { tools: ["clerk.**"] }),
    await house.enter("other", { tools: ["clerk.**"] }),
  ];
  const tree = member.room.peer("tree");
  const abort = new AbortController();
  const waitFor = (count: number) =>
    Array.from({ length: count }, () => rejection(tree.callTool("clerk.wait", {}, { signal: abort.signal })));
  const calls = waitFor(40);
  await expect.poll(() => house.said().length).toBe(40);
  const hello = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "x", version: "1" } };
  await tree.request("initialize", hello);
  calls.push(...waitFor(24));
  await expect.poll(() => house.said().length).toBe(64);
  expect(await rejection(tree.callTool("clerk.count", {}))).toMatchObject({ reason: "rate_limited" });
  expect(textOf(await other.room.peer("tree").callTool("clerk.count", {}))).toBe("count is done");
  abort.abort(new Error("no longer"));
  await Promise.all(calls);
  // Control: when they have ended there is room again.
  await expect.poll(() => house.said().filter((line) => line !== "waits").length).toBeGreaterThan(0);
  await expect.poll(() => tree.callTool("clerk.count", {}).then(textOf, () => "no")).toBe("count is done");
});

// What a client's level does not allow it to call becomes a proposal, which somebody else in the room decides.

import { createRoomLink, ownRequest } from "@mcpx/aggregator";
import { joinLocally, ownPrincipal } from "@mcpx/cli";
import type { Proposal, Room } from "@mcpx/client";
import { expect, onTestFinished, test } from "vitest";
import { join, nextEvent, rejection, startHouse, textOf, topic } from "../../client/support/house.ts";
import { kitchenV1, kitchenV2 } from "../../client/support/sdk-servers.ts";
import { enter, refusedOnConnect } from "../../support/enter.ts";
import type { TestServer } from "../../support/test-server.ts";
import { kinds, openRoomEndpoint, type RoomEndpointClient } from "./support/room-endpoint.ts";

async function kitchenWithHuman(house: TestServer, kitchenOf = kitchenV1) {
  const oven = await join(house, "oven", { kind: "robot" });
  const kitchen = kitchenOf();
  await oven.serve(kitchen.server);
  const human = await join(house, "human", { kind: "human" });
  return { oven, human, kitchen };
}

/** Fulfils the next proposal. */
async function approve(human: Room): Promise<void> {
  const { proposal } = await nextEvent(human, "proposal", ({ type }) => type === "proposed");
  await human.proposals.fulfil(proposal);
}

/** A call that its caller cancels; its proposal, when the human has heard that it is withdrawn. */
async function giveUp(roomEndpoint: RoomEndpointClient, human: Room, text: string): Promise<Proposal> {
  const abort = new AbortController();
  const proposed = nextEvent(human, "proposal", ({ type }) => type === "proposed");
  const call = rejection(roomEndpoint.call("oven.echo", { text }, { signal: abort.signal }));
  const { proposal } = await proposed;
  const withdrawn = nextEvent(human, "proposal", ({ type }) => type === "withdrawn");
  abort.abort(new Error("enough"));
  await Promise.all([call, withdrawn]);
  return proposal;
}

/** As somebody calls who has not heard of the proposal's end. */
function callLate(human: Room, { id, proposer, params }: Proposal) {
  const _meta = { "org.mcpx/proposal": { proposal: id, proposer } };
  return human.peer("oven").request("tools/call", { ...params, _meta });
}

const pendingOf = (room: Room) => room.proposals.pending().map(({ id }) => id);

for (const kind of kinds) {
  test(`[B-ROOM-1] a restricted ${kind} client lists, proposes, and gets the result that a human's approval gives`, async () => {
    const house = await startHouse();
    const { human, kitchen } = await kitchenWithHuman(house, kind === "v1" ? kitchenV1 : kitchenV2);
    const roomEndpoint = await openRoomEndpoint(house, kind, "alice", { level: "restricted" });
    expect(await roomEndpoint.names()).toContain("oven.echo");
    expect(roomEndpoint.instructions).toContain("proposals");
    const approving = approve(human);
    const result = await roomEndpoint.call("oven.echo", { text: "please" });
    await approving;
    expect(textOf(result)).toBe("please");
    expect(result.isError).toBeFalsy();
    expect(kitchen.done).toEqual(["echo please"]);
  });
}

test("[B-ROOM-1] who waits long is told what for, has progress, and is given the outcome later", async () => {
  const house = await startHouse();
  const { human, kitchen } = await kitchenWithHuman(house);
  const roomEndpoint = await openRoomEndpoint(house, "v2 modern", "alice", { level: "restricted" });
  const steps: (string | undefined)[] = [];
  const onprogress = ({ message }: { message?: string | undefined }) => void steps.push(message);
  const pending = await roomEndpoint.call("oven.echo", { text: "slow" }, { onprogress });
  expect(pending.isError).toBeFalsy();
  const { status, proposal_id, expires_at } = pending.structuredContent;
  expect(status).toBe("proposal_pending");
  expect(Date.parse(expires_at)).toBeGreaterThan(Date.now());
  expect(textOf(pending)).toContain(proposal_id);
  expect(steps.length).toBeGreaterThan(2);
  expect(pendingOf(human)).toEqual([proposal_id]);
  const still = await roomEndpoint.call("proposals.wait", { proposal_id, timeout_ms: 50 });
  expect(still.structuredContent).toMatchObject({ status: "proposal_pending", proposal_id });
  const waiting = roomEndpoint.call("proposals.wait", { proposal_id });
  const [proposal] = human.proposals.pending();
  await human.proposals.fulfil(proposal as never);
  expect(textOf(await waiting)).toBe("slow");
  expect(kitchen.done).toEqual(["echo slow"]);
});

test("[B-ROOM-1] the same call proposes once while it waits, and its outcome is not asked for twice", async () => {
  const house = await startHouse();
  const { human, kitchen } = await kitchenWithHuman(house);
  const roomEndpoint = await openRoomEndpoint(house, "v1", "alice", { level: "restricted" });
  const other = await openRoomEndpoint(house, "v2 legacy", "alice", { level: "restricted" });
  const calls = await Promise.all([
    roomEndpoint.call("oven.echo", { text: "once" }),
    roomEndpoint.call("oven.echo", { text: "once" }),
    other.call("oven.echo", { text: "another" }),
  ]);
  const ids = calls.map(({ structuredContent }) => structuredContent.proposal_id);
  expect(ids[0]).toBe(ids[1]);
  expect(ids[2]).not.toBe(ids[0]);
  expect(pendingOf(human).sort()).toEqual([...new Set(ids)].sort());
  // Decided while nobody waits: calling again gives what came of it, and does it no second time.
  const proposal = human.proposals.get(ids[0]);
  await human.proposals.fulfil(proposal as never);
  expect(textOf(await roomEndpoint.call("oven.echo", { text: "once" }))).toBe("once");
  expect(kitchen.done).toEqual(["echo once"]);
  // From then on it is another call.
  const again = approve(human);
  expect(textOf(await roomEndpoint.call("oven.echo", { text: "once" }))).toBe("once");
  await again;
  expect(kitchen.done).toEqual(["echo once", "echo once"]);
});

test("[B-ROOM-1] a proposal outlives the client that made it: another of the same id gets its outcome", async () => {
  const house = await startHouse();
  const { human } = await kitchenWithHuman(house);
  const first = await openRoomEndpoint(house, "v1", "alice", { level: "restricted" });
  const { proposal_id } = (await first.call("oven.echo", { text: "later" })).structuredContent;
  await first.close();
  const second = await openRoomEndpoint(house, "v2 modern", "alice", { level: "restricted" });
  const joined = await second.call("oven.echo", { text: "later" });
  expect(joined.structuredContent.proposal_id).toBe(proposal_id);
  await human.proposals.fulfil(human.proposals.get(proposal_id) as never);
  expect(textOf(await second.call("proposals.wait", { proposal_id }))).toBe("later");
  const stranger = await openRoomEndpoint(house, "v2 modern", "mallory", { level: "restricted" });
  expect((await rejection(stranger.call("proposals.wait", { proposal_id }))).message).toContain(
    "no proposal of yours",
  );
});

test("[B-ROOM-1] a rejection comes with who and why; advice of others ends nothing", async () => {
  const house = await startHouse();
  const { oven, human, kitchen } = await kitchenWithHuman(house);
  const roomEndpoint = await openRoomEndpoint(house, "v2 legacy", "alice", { level: "restricted" });
  const { proposal_id } = (await roomEndpoint.call("oven.echo", { text: "no" })).structuredContent;
  const proposal = human.proposals.get(proposal_id) as never;
  await human.proposals.reject(proposal, { reason: "rather not" });
  const advised = await roomEndpoint.call("proposals.wait", { proposal_id, timeout_ms: 200 });
  expect(advised.structuredContent).toMatchObject({
    status: "proposal_pending",
    advice: [{ by: "human", reason: "rather not" }],
  });
  await oven.proposals.reject(proposal, { reason: "too hot" });
  const result = await roomEndpoint.call("proposals.wait", { proposal_id });
  expect(result).toMatchObject({
    isError: true,
    structuredContent: { status: "proposal_rejected", proposal_id, by: "oven", reason: "too hot" },
  });
  expect(textOf(result)).toBe("oven has rejected the proposal: too hot");
  expect(kitchen.done).toEqual([]);
});

test("[B-ROOM-1] a tool the participant does not have is refused by it, not left waiting", async () => {
  const house = await startHouse();
  await kitchenWithHuman(house);
  const roomEndpoint = await openRoomEndpoint(house, "v1", "alice", { level: "restricted" });
  expect((await rejection(roomEndpoint.call("oven.fly"))).message).toContain("oven.fly");
});

test("[B-ROOM-1] what nobody decides in time has expired", async () => {
  const house = await startHouse();
  const { kitchen } = await kitchenWithHuman(house);
  const token = await house.token({ sub: "alice", topics: [topic], level: "restricted" });
  const room = await joinLocally(house.rooms, await house.identity.tokens.verify(token), topic);
  const scout = await joinLocally(house.rooms, ownPrincipal("scout", topic), topic);
  onTestFinished(() => scout.close());
  const taker = { notification: () => {}, question: async () => ({}), logLine: () => {} };
  const link = createRoomLink(room, taker, { holdMs: 2_000, ttlMs: 300, scout: async () => scout });
  onTestFinished(() => link.close());
  const params = { name: "oven.echo", arguments: { text: "late" } };
  const result = await link.request(ownRequest("tools/call", new AbortController().signal, params));
  expect(result).toMatchObject({ isError: true, structuredContent: { status: "proposal_expired" } });
  expect(kitchen.done).toEqual([]);
});

test("[B-ROOM-1] a cancelled call takes its proposal back", async () => {
  const house = await startHouse();
  const { human } = await kitchenWithHuman(house);
  const roomEndpoint = await openRoomEndpoint(house, "v2 modern", "alice", { level: "restricted" });
  const abort = new AbortController();
  const proposed = nextEvent(human, "proposal", ({ type }) => type === "proposed");
  const call = rejection(roomEndpoint.call("oven.echo", { text: "x" }, { signal: abort.signal }));
  const { proposal } = await proposed;
  abort.abort(new Error("enough"));
  await call;
  await expect.poll(() => human.proposals.get(proposal.id)?.status).toBe("withdrawn");
});

test("[B-ROOM-1] [X1-10.2-1] a call made after its proposal was withdrawn is what asking again tells of, once", async () => {
  const house = await startHouse();
  const { human, kitchen } = await kitchenWithHuman(house);
  const roomEndpoint = await openRoomEndpoint(house, "v2 modern", "alice", { level: "restricted" });
  const give = (text: string) => giveUp(roomEndpoint, human, text);
  // Called before anybody asks again.
  await callLate(human, await give("before"));
  expect(textOf(await roomEndpoint.call("oven.echo", { text: "before" }))).toBe("before");
  // Asked again, told that no call was made so far, and called then.
  const proposal = await give("after");
  const told = await roomEndpoint.call("oven.echo", { text: "after" });
  expect(told).toMatchObject({ isError: true, structuredContent: { proposal_id: proposal.id } });
  expect(textOf(told)).toMatch(/no call was made for it so far.*can still be made/);
  await callLate(human, proposal);
  expect(textOf(await roomEndpoint.call("proposals.wait", { proposal_id: proposal.id }))).toBe("after");
  expect(kitchen.done).toEqual(["echo before", "echo after"]);
  expect(human.proposals.all().length).toBe(2);
  // Once it was told, the same call is another one.
  const again = approve(human);
  expect(textOf(await roomEndpoint.call("oven.echo", { text: "after" }))).toBe("after");
  await again;
  expect(kitchen.done).toEqual(["echo before", "echo after", "echo after"]);
});

test("[B-ROOM-1] a late call that nobody was told of stands for the same call", async () => {
  const house = await startHouse();
  const { human, kitchen } = await kitchenWithHuman(house);
  const roomEndpoint = await openRoomEndpoint(house, "v2 modern", "alice", { level: "restricted" });
  const proposal = await giveUp(roomEndpoint, human, "x");
  expect((await roomEndpoint.call("oven.echo", { text: "x" })).isError).toBe(true);
  await callLate(human, proposal);
  expect(textOf(await roomEndpoint.call("oven.echo", { text: "x" }))).toBe("x");
  expect(kitchen.done).toEqual(["echo x"]);
});

test("[B-ROOM-1] a responder is refused with a reason, and may still speak", async () => {
  const house = await startHouse();
  await kitchenWithHuman(house);
  const roomEndpoint = await openRoomEndpoint(house, "v1", "alice", { level: "responder" });
  const refused = await roomEndpoint.call("oven.echo", { text: "x" });
  expect(refused).toMatchObject({ isError: true, structuredContent: { reason: "privilege_violation" } });
  expect(textOf(refused)).toContain("oven was not called");
  expect((await roomEndpoint.call("chat.say", { text: "hello" })).structuredContent.seq).toEqual(
    expect.any(Number),
  );
});

test("[B-ROOM-1] a level changes what the next call is, at once", async () => {
  const house = await startHouse();
  const { human, kitchen } = await kitchenWithHuman(house);
  const admin = await house.adminToken();
  const at = (verb: string) => house.call("POST", `/admin/participants/alice/${verb}`, admin);
  const roomEndpoint: RoomEndpointClient = await openRoomEndpoint(house, "v2 legacy", "alice");
  expect(textOf(await roomEndpoint.call("oven.echo", { text: "1" }))).toBe("1");
  await at("demote");
  const approving = approve(human);
  expect(textOf(await roomEndpoint.call("oven.echo", { text: "2" }))).toBe("2");
  await approving;
  await at("promote");
  expect(textOf(await roomEndpoint.call("oven.echo", { text: "3" }))).toBe("3");
  expect(kitchen.done).toEqual(["echo 1", "echo 2", "echo 3"]);
  expect(human.proposals.all().length).toBe(1);
});

test("[B-ROOM-1] whoever asks for tools in the place of others is seen, and is nobody's peer", async () => {
  const house = await startHouse();
  await kitchenWithHuman(house);
  const watcher = await enter(house, "watcher", { topic });
  const roomEndpoint = await openRoomEndpoint(house, "v2 modern", "alice", { level: "restricted" });
  expect(await roomEndpoint.names()).not.toContain("mcpx_face.echo");
  const { participants } = (await roomEndpoint.call("presence.get")).structuredContent;
  expect(participants.map(({ id }: { id: string }) => id).sort()).toEqual(["human", "oven", "watcher"]);
  const joined = await watcher.find(({ payload }) => payload.participant?.id === "mcpx.face");
  expect(joined.payload.event).toBe("join");
  const token = await house.token({ sub: "mcpx.face", topics: [topic], level: "full" });
  expect((await refusedOnConnect(house, token, { topic })).status).toBeGreaterThanOrEqual(400);
});

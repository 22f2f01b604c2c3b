// Proposing what one may not do, and what becomes of it.
import { expect, test } from "vitest";
import { join, nextEvent, rejection, seen, startHouse, textOf } from "./support/house.ts";
import { kitchenV1, kitchenV2 } from "./support/sdk-servers.ts";

async function kitchenRoom() {
  const house = await startHouse();
  const oven = await join(house, "oven", { kind: "robot" });
  const kitchen = kitchenV1();
  await oven.serve(kitchen.server);
  const human = await join(house, "human", { kind: "human" });
  const rookie = await join(house, "rookie", { level: "restricted" });
  await seen(human, "rookie");
  return { house, oven, kitchen, human, rookie };
}

test("[X1-4.2.1-3] a restricted call becomes a proposal and resolves with the fulfilment's result", async () => {
  const { human, rookie, kitchen } = await kitchenRoom();
  expect(rookie.level).toBe("restricted");
  const proposed = nextEvent(human, "proposal", ({ type }) => type === "proposed");
  const call = rookie.peer("oven").callTool("echo", { text: "please" }, { reason: "I am hungry" });
  const { proposal } = await proposed;
  expect(proposal).toMatchObject({
    proposer: "rookie",
    targets: ["oven"],
    method: "tools/call",
    reason: "I am hungry",
    status: "pending",
  });
  const answered = nextEvent(human, "envelope", ({ from, to }) => from === "oven" && to?.length === 2);
  const result = await human.proposals.fulfil(proposal);
  expect(textOf(result)).toBe("please");
  expect(textOf(await call)).toBe("please");
  expect((await answered).to).toEqual(["human", "rookie"]);
  expect((await call)._meta).toMatchObject({
    "org.mcpx/proposal": { proposal: proposal.id, proposer: "rookie", fulfiller: "human" },
  });
  expect(await rejection(human.proposals.fulfil(proposal))).toMatchObject({ reason: "not_pending" });
  expect(kitchen.done).toEqual(["echo please"]);
  await expect.poll(() => human.proposals.get(proposal.id)?.status).toBe("fulfilled");
});

test("without proposing, a restricted call fails with the gateway's -32001", async () => {
  const { rookie } = await kitchenRoom();
  const error = await rejection(rookie.peer("oven").callTool("echo", { text: "x" }, { propose: "never" }));
  expect(error).toMatchObject({ code: -32001, reason: "privilege_violation" });
});

test("a fulfilment may change the arguments, and everybody sees that it did", async () => {
  const { human, rookie } = await kitchenRoom();
  const proposed = nextEvent(human, "proposal", ({ type }) => type === "proposed");
  const { result, id } = rookie.propose({
    to: "oven",
    method: "tools/call",
    params: { name: "echo", arguments: { text: "200 degrees" } },
  });
  const { proposal } = await proposed;
  const params = { name: "echo", arguments: { text: "160 degrees" } };
  await human.proposals.fulfil(proposal, { params });
  expect(textOf(await result)).toBe("160 degrees");
  // Who has proposed it, and everybody else, sees what was called, and not only that it was something else.
  const called = { method: "tools/call", params };
  for (const seen of [rookie, human]) {
    expect(seen.proposals.get(id)?.fulfilment).toMatchObject({ fulfiller: "human", isChanged: true, called });
  }
});

test("[X1-4.2.1-2] a plain call that says nothing of it fulfils the one proposal that asks for it", async () => {
  const { human, rookie } = await kitchenRoom();
  const proposed = nextEvent(human, "proposal", ({ type }) => type === "proposed");
  const call = rookie.peer("oven").callTool("echo", { text: "soup" });
  await proposed;
  await human.peer("oven").callTool("echo", { text: "soup" });
  expect(textOf(await call)).toBe("soup");
});

test("an untargeted proposal needs a target from whoever fulfils it", async () => {
  const { human, rookie } = await kitchenRoom();
  const proposed = nextEvent(human, "proposal", ({ type }) => type === "proposed");
  const params = { name: "echo", arguments: { text: "anybody" } };
  const handle = rookie.propose({ method: "tools/call", params });
  const { proposal } = await proposed;
  expect(await rejection(human.proposals.fulfil(proposal))).toMatchObject({ reason: "bad_option" });
  await human.proposals.fulfil(proposal, { target: "oven" });
  expect(textOf(await handle.result)).toBe("anybody");
  expect(handle.status).toBe("fulfilled");
});

test("the target itself may fulfil what was proposed to it", async () => {
  const { oven, rookie } = await kitchenRoom();
  const proposed = nextEvent(oven, "proposal", ({ type }) => type === "proposed");
  const call = rookie.peer("oven").callTool("echo", { text: "self" });
  const { proposal } = await proposed;
  expect(textOf(await oven.proposals.fulfil(proposal))).toBe("self");
  expect(textOf(await call)).toBe("self");
});

test("a target's rejection ends the wait with its reason; a status is shown", async () => {
  const { oven, rookie } = await kitchenRoom();
  const proposed = nextEvent(oven, "proposal", ({ type }) => type === "proposed");
  const call = rejection(rookie.peer("oven").callTool("echo", { text: "no" }));
  const { proposal } = await proposed;
  const status = nextEvent(rookie, "proposal", ({ type }) => type === "status");
  await oven.proposals.status(proposal, "considering");
  expect((await status).proposal.statuses).toEqual([{ by: "oven", status: "considering" }]);
  await oven.proposals.reject(proposal, { reason: "busy" });
  expect(await call).toMatchObject({ reason: "proposal_rejected", data: { by: "oven", reason: "busy" } });
  expect(rookie.proposals.countsByReason().get("busy")).toBe(1);
});

test("[PL-11-2] a target that serves, but not this, rejects by itself", async () => {
  const { rookie } = await kitchenRoom();
  const call = rejection(rookie.peer("oven").callTool("fly", {}));
  expect(await call).toMatchObject({
    reason: "proposal_rejected",
    data: { code: "incapable", reason: expect.stringMatching(/^oven has no tool "fly"; it has .*\becho\b/) },
  });
  expect(rookie.proposals.countsByReason().get("incapable")).toBe(1);
  const read = rookie.propose({ to: "oven", method: "resources/read", params: { uri: "note://today" } });
  const reason = "oven does not serve resources/read";
  expect(await rejection(read.result)).toMatchObject({ data: { code: "incapable", reason } });
});

test("[X1-10.2-1] proposals are withdrawn, alone, by an abort or many at once, and expire", async () => {
  const { human, rookie } = await kitchenRoom();
  const params = { name: "echo", arguments: { text: "later" } };
  const propose = (ttlMs?: number) => rookie.propose({ to: "oven", method: "tools/call", params, ttlMs });
  const one = propose();
  await one.withdraw("changed my mind");
  expect(await rejection(one.result)).toMatchObject({ reason: "proposal_withdrawn" });
  const abort = new AbortController();
  const call = rejection(rookie.peer("oven").callTool("echo", params.arguments, { signal: abort.signal }));
  const withdrawn = nextEvent(human, "proposal", ({ type }) => type === "withdrawn");
  await nextEvent(human, "proposal", ({ type }) => type === "proposed");
  abort.abort(new Error("never mind"));
  expect((await call).message).toBe("never mind");
  await withdrawn;
  const many = [propose(), propose()];
  await rookie.proposals.withdraw(many.map(({ id }) => id));
  for (const { result } of many)
    expect(await rejection(result)).toMatchObject({ reason: "proposal_withdrawn" });
  const short = propose(50);
  expect(await rejection(short.result)).toMatchObject({ reason: "proposal_expired" });
  expect(short.status).toBe("expired");
  await expect.poll(() => human.proposals.get(short.id)?.status).toBe("expired");
});

test("[X1-10.2-2] whoever comes later finds what is pending", async () => {
  const { house, rookie } = await kitchenRoom();
  const params = { name: "echo", arguments: { text: "waiting" } };
  const { id, result } = rookie.propose({ to: "oven", method: "tools/call", params, reason: "patience" });
  await nextEvent(rookie, "proposal", ({ proposal }) => proposal.id === id);
  const late = await join(house, "late");
  const [proposal] = late.proposals.pending();
  expect(proposal).toMatchObject({ id, proposer: "rookie", targets: ["oven"], params, status: "pending" });
  expect(proposal?.expiresAt).toBeGreaterThan(proposal?.createdAt ?? 0);
  if (proposal !== undefined) await late.proposals.fulfil(proposal);
  expect(textOf(await result)).toBe("waiting");
});

test("a responder answers but proposes; one whose level falls while it calls proposes too", async () => {
  const house = await startHouse();
  const admin = await house.adminToken();
  const oven = await join(house, "oven", { level: "responder" });
  await oven.serve(kitchenV2().server);
  const alice = await join(house, "alice");
  expect(textOf(await alice.peer("oven").callTool("echo", { text: "hi" }))).toBe("hi");
  const human = await join(house, "human");
  const fell = nextEvent(alice, "level", ({ participant }) => participant === "alice");
  await house.call("POST", "/admin/participants/alice/demote?level=restricted", admin);
  expect(await fell).toMatchObject({ old: "full", new: "restricted" });
  expect(alice.level).toBe("restricted");
  const proposed = nextEvent(human, "proposal", ({ type }) => type === "proposed");
  const call = alice.peer("oven").callTool("echo", { text: "fallen" });
  await human.proposals.fulfil((await proposed).proposal);
  expect(textOf(await call)).toBe("fallen");
});

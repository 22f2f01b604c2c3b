// Level, capability and approval: who may attempt, which tools, whether this call. [AC-10-1] [AC-10-2]
import { createKey, requestCapability } from "@mcpx/client/guard";
import { expect, test } from "vitest";
import { rejection, seen, textOf } from "../client/support/house.ts";
import { startKitchen, topic, wideLimits } from "./support/guarded-kitchen.ts";
import { enterRaw } from "./support/raw-caller.ts";

const table = [false, true].flatMap((mayAttempt) =>
  [false, true].flatMap((hasCapability) =>
    [false, true].map((isApproved) => ({ mayAttempt, hasCapability, isApproved })),
  ),
);

test.each(table)(
  "[AC-10-1] [AC-0-1] level full: $mayAttempt, capability: $hasCapability, approved: $isApproved",
  async ({ mayAttempt, hasCapability, isApproved }) => {
    const rules = [{ agent: "ann", tools: "*" as const, requires_approval: true }];
    let asked = 0;
    const kitchen = await startKitchen({
      policy: { mode: "allowlist", rules },
      approve: () => {
        asked += 1;
        return isApproved;
      },
    });
    const ann = await enterRaw(kitchen.server, "ann", { level: mayAttempt ? "full" : "restricted" });
    const wish = { holder: "ann", key: ann.key.jwk, tools: ["heat"], duration: 60 };
    const capability = hasCapability ? (await kitchen.guard.issue(wish)).token : undefined;
    const expected = () => {
      if (!mayAttempt) return "privilege_violation";
      if (!hasCapability) return "missing";
      return isApproved ? "done" : "approval_refused";
    };
    expect(await ann.call({ capability })).toBe(expected());
    expect(kitchen.done).toEqual(expected() === "done" ? ["heat 180"] : []);
    // Each wall is before the next: nobody is asked about what would be refused anyway.
    expect(asked).toBe(mayAttempt && hasCapability ? 1 : 0);
  },
);

const annMay = { mode: "allowlist" as const, rules: [{ agent: "ann", tools: ["heat"] }], humans: false };

test("[AC-10-2] a restricted agent proposes the request and the call; whoever fulfils them needs no capability", async () => {
  const kitchen = await startKitchen({ policy: annMay });
  const ann = await kitchen.enter("ann", { level: "restricted" });
  const bob = await kitchen.enter("bob");
  await seen(bob.room, "ann");
  const fulfilled: string[] = [];
  bob.room.addEventListener("proposal", ({ detail: { type, proposal } }) => {
    if (type !== "proposed") return;
    fulfilled.push(proposal.method);
    void bob.room.proposals.fulfil(proposal).catch(() => {});
  });
  expect(textOf(await ann.room.peer("oven").callTool("heat", { degrees: 90 }))).toBe("90 degrees");
  // The first without a capability, then the request, then the call with it.
  expect(fulfilled).toEqual(["tools/call", "capabilities/request", "tools/call"]);
  expect(await kitchen.guard.grants()).toMatchObject([{ holder: "ann", uses: 1 }]);
  expect(textOf(await ann.room.peer("oven").callTool("heat", { degrees: 91 }))).toBe("91 degrees");
  expect(kitchen.done).toEqual(["heat 90", "heat 91"]);
});

async function proposedByAnn() {
  const kitchen = await startKitchen({ policy: annMay });
  const ann = await enterRaw(kitchen.server, "ann", { level: "restricted" });
  const wish = { holder: "ann", key: ann.key.jwk, tools: ["heat"], duration: 60 };
  const { token: capability } = await kitchen.guard.issue(wish);
  const id = crypto.randomUUID();
  const params = {
    name: "heat",
    arguments: { degrees: 180 },
    _meta: { capability, proof: await ann.prove({ capability }, id) },
  };
  const bob = await kitchen.enter("bob");
  await ann.client.ack(
    ann.client.send({ id, kind: "mcp/proposal", to: ["oven"], payload: { method: "tools/call", params } }),
  );
  const proposal = await expect
    .poll(() => bob.room.proposals.get(id))
    .toBeDefined()
    .then(() => bob.room.proposals.get(id));
  if (proposal === undefined) throw new Error("not seen");
  return { kitchen, ann, bob, proposal, params };
}

test("[AC-10-2] what the proposer has signed is what is done, and only while its proposal is open", async () => {
  const { kitchen, bob, proposal, params } = await proposedByAnn();
  // Other arguments under her proof.
  const changed = { ...params, arguments: { degrees: 900 } };
  const refusal = await rejection(bob.room.proposals.fulfil(proposal, { params: changed }));
  expect(refusal).toMatchObject({ code: -32003, reason: "proof_invalid" });
  expect(kitchen.done).toEqual([]);
});

test("[AC-10-2] a proposal's capability is good once, and nothing outside of its proposal", async () => {
  const { kitchen, bob, proposal, params } = await proposedByAnn();
  await bob.room.proposals.fulfil(proposal);
  expect(kitchen.done).toEqual(["heat 180"]);
  const thief = await enterRaw(kitchen.server, "mallory");
  for (const correlation_id of [undefined, proposal.id]) {
    const id = thief.nextId();
    const payload = { jsonrpc: "2.0", id, method: "tools/call", params };
    const sent = thief.client.send({ kind: "mcp", to: ["oven"], correlation_id, payload });
    const answer = await thief.client.find(
      (message) => message.correlation_id === sent && message.from === "oven",
    );
    expect(answer.payload.error.data.reason).toBe("wrong_holder");
  }
  expect(kitchen.done).toEqual(["heat 180"]);
});

test("[AC-10-2] withdrawn is withdrawn: a fulfilment that comes later is refused", async () => {
  const { kitchen, ann, proposal, params } = await proposedByAnn();
  await ann.client.ack(
    ann.client.send({ kind: "mcpx.withdraw.proposal", correlation_id: proposal.id, payload: {} }),
  );
  const mallory = await enterRaw(kitchen.server, "mallory");
  const payload = { jsonrpc: "2.0", id: 99, method: "tools/call", params };
  const sent = mallory.client.send({ kind: "mcp", to: ["oven"], correlation_id: proposal.id, payload });
  const answer = await mallory.client.find(
    (message) => message.correlation_id === sent && message.from === "oven",
  );
  expect(answer.payload.error.data.reason).toBe("wrong_holder");
  expect(kitchen.done).toEqual([]);
});

test("[AC-10-2] the fulfiller's own capability suffices, with other arguments too", async () => {
  const kitchen = await startKitchen({
    policy: { mode: "allowlist", rules: [{ agent: "bob", tools: ["heat"] }] },
  });
  const rookie = await kitchen.enter("rookie", { level: "restricted" });
  const bob = await kitchen.enter("bob");
  bob.room.addEventListener("proposal", ({ detail: { type, proposal } }) => {
    if (type !== "proposed") return;
    const params = { ...proposal.params, arguments: { degrees: 60 } };
    void bob.room.proposals.fulfil(proposal, { params }).catch(() => {});
  });
  const handle = rookie.room.propose({
    to: "oven",
    method: "tools/call",
    params: { name: "heat", arguments: { degrees: 250 } },
  });
  expect(textOf(await handle.result)).toBe("60 degrees");
});

test("[AC-9-5] a human needs no capability, by the gateway's word alone; approvals stay, and the owner may switch it off", async () => {
  const rules = [{ agent: "ann", tools: ["burn"], requires_approval: true }];
  const kitchen = await startKitchen({ policy: { mode: "allowlist", rules } });
  const ann = await kitchen.enter("ann", { kind: "human" });
  const fake = await kitchen.enter("human", { kind: "agent" });
  expect(textOf(await ann.room.peer("oven").callTool("heat", { degrees: 50 }))).toBe("50 degrees");
  expect(await rejection(fake.room.peer("oven").callTool("heat", { degrees: 50 }))).toMatchObject({
    reason: "grant_refused",
  });
  expect(await rejection(ann.room.peer("oven").callTool("burn"))).toMatchObject({
    reason: "approval_refused",
  });
  await kitchen.guard.setPolicy({ mode: "allowlist", humans: false });
  expect(await rejection(ann.room.peer("oven").callTool("heat", { degrees: 50 }))).toMatchObject({
    reason: "grant_refused",
  });
  expect(kitchen.done).toEqual(["heat 50"]);
});

for (const toolAccess of ["off", "enforce"] as const) {
  test(`[AC-9-5] [AC-10-2] under a human's proposal exactly that is done and nothing else, gateway: ${toolAccess}`, async () => {
    const kitchen = await startKitchen({
      policy: { mode: "allowlist" },
      house: { limits: wideLimits, gateway: { topics: { [topic]: { toolAccess } } } },
    });
    const eve = await kitchen.enter("eve", { kind: "human" });
    const bob = await kitchen.enter("bob", { kind: "agent" });
    const proposed = async () => {
      const params = { name: "heat", arguments: { degrees: 50 } };
      const { id } = eve.room.propose({ to: "oven", method: "tools/call", params });
      await expect.poll(() => bob.room.proposals.get(id)).toBeDefined();
      return bob.room.proposals.get(id) as NonNullable<ReturnType<typeof bob.room.proposals.get>>;
    };
    for (const params of [
      { name: "heat", arguments: { degrees: 500 } },
      { name: "burn", arguments: {} },
    ]) {
      const changed = bob.room.proposals.fulfil(await proposed(), { params });
      expect(await rejection(changed)).toMatchObject({ code: -32003, reason: "grant_refused" });
    }
    expect(kitchen.done).toEqual([]);
    await bob.room.proposals.fulfil(await proposed());
    expect(kitchen.done).toEqual(["heat 50"]);
  });
}

test("[AC-3-2] [AC-1-10] humans in the room are asked: a fulfilment is a yes, a rejection a no, one's own word nothing", async () => {
  const kitchen = await startKitchen({
    policy: { mode: "allowlist" },
    approve: "room",
    approvalTimeoutMs: 10_000,
  });
  const ann = await kitchen.enter("ann");
  const human = await kitchen.enter("eve", { kind: "human" });
  const robot = await kitchen.enter("rob", { kind: "robot" });
  const refusals: unknown[] = [];
  const decisions = ["reject", "fulfil"];
  human.room.addEventListener("proposal", ({ detail: { type, proposal } }) => {
    if (type !== "proposed" || proposal.params.from !== "ann") return;
    void (async () => {
      expect(proposal).toMatchObject({
        proposer: "oven",
        method: "capabilities/approve",
        params: { kind: "grant", from: "ann", tools: ["heat"] },
      });
      if (decisions.shift() === "reject") await human.room.proposals.reject(proposal, { reason: "not now" });
      else await human.room.proposals.fulfil(proposal);
    })();
  });
  expect(await rejection(ann.room.peer("oven").callTool("heat", { degrees: 1 }))).toMatchObject({
    reason: "grant_refused",
  });
  expect(textOf(await ann.room.peer("oven").callTool("heat", { degrees: 2 }))).toBe("2 degrees");
  // Neither a robot nor the asker decides.
  const asking = requestCapability(human.room, "oven", { tools: ["burn"], timeoutMs: 2_000 });
  asking.catch((error: unknown) => refusals.push(error));
  expect(await rejection(robot.room.peer("oven").request("capabilities/approve", {}))).toMatchObject({
    reason: "confirmation_unknown",
  });
  expect(kitchen.done).toEqual(["heat 2"]);
});

test("[AC-1-10] nobody approves their own call, and a call that was taken back is not done when somebody says yes", async () => {
  const rules = [{ agent: "*", tools: "*" as const, requires_approval: true, effect: "open" as const }];
  const kitchen = await startKitchen({
    policy: { mode: "open", rules },
    approve: "room",
    approvalTimeoutMs: 20_000,
  });
  const ann = await kitchen.enter("ann", { kind: "human" });
  const eve = await kitchen.enter("eve", { kind: "human" });
  const abort = new AbortController();
  const call = rejection(ann.room.peer("oven").callTool("heat", { degrees: 3 }, { signal: abort.signal }));
  await expect.poll(() => eve.room.proposals.pending()).toHaveLength(1);
  const [question] = eve.room.proposals.pending();
  if (question === undefined) throw new Error("no question");
  await expect.poll(() => ann.room.proposals.get(question.id)).toBeDefined();
  expect(await rejection(ann.room.proposals.fulfil(question))).toMatchObject({ reason: "self_approval" });
  abort.abort(new Error("changed my mind"));
  await call;
  const ended = () => eve.room.proposals.get(question.id)?.status;
  await expect.poll(ended).not.toBe("pending");
  expect(kitchen.done).toEqual([]);
  // The control: the same, and nobody takes it back.
  eve.room.addEventListener("proposal", ({ detail: { type, proposal } }) => {
    if (type === "proposed") eve.room.proposals.fulfil(proposal).catch(() => {});
  });
  expect(textOf(await ann.room.peer("oven").callTool("heat", { degrees: 4 }))).toBe("4 degrees");
});

test("[AC-0-2] a key costs nothing where nobody wants a capability", async () => {
  const kitchen = await startKitchen({ policy: { mode: "open" } });
  const ann = await kitchen.enter("ann", { key: await createKey() });
  expect(textOf(await ann.room.peer("oven").callTool("heat", { degrees: 7 }))).toBe("7 degrees");
  expect(kitchen.events.map(({ type }) => type)).toEqual(["used"]);
});

// Topics whose calls the gateway checks before their owners see them. [AC-6-1]
import type { Proposal } from "@mcpx/client";
import { createKey, delegateCapability, requestCapability } from "@mcpx/client/guard";
import { systemClock } from "@mcpx/host";
import { readCapabilityToken } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { rejection, textOf } from "../client/support/house.ts";
import type { Seen } from "../support/test-client.ts";
import {
  annMayHeat,
  enter,
  type KitchenOptions,
  ovenServer,
  startKitchen,
  topic,
  wideLimits,
} from "./support/guarded-kitchen.ts";
import { enterRaw, outcomeOf, type RawCaller } from "./support/raw-caller.ts";

const enforced = (toolAccess: "enforce" | { mode: "open" | "denylist"; rules?: never[] } = "enforce") => ({
  limits: wideLimits,
  gateway: { topics: { [topic]: { toolAccess } } },
});

async function scene(options: KitchenOptions = {}) {
  const kitchen = await startKitchen({ policy: annMayHeat, house: enforced(), ...options });
  const ann = await enterRaw(kitchen.server, "ann");
  const grant = async (more: object = {}) =>
    (await kitchen.guard.issue({ holder: "ann", key: ann.key.jwk, tools: ["heat"], duration: 600, ...more }))
      .token;
  const heard: Seen[] = [];
  kitchen.oven.room.addEventListener("envelope", ({ detail }) => void heard.push(detail));
  const calls = () =>
    heard.filter(({ kind, payload }) => kind === "mcp" && payload.method === "tools/call").length;
  return { ...kitchen, ann, grant, calls };
}

test("[AC-6-1] [AC-0-1] a good call reaches its owner, by the library alone", async () => {
  const kitchen = await startKitchen({ policy: annMayHeat, house: enforced() });
  const { room } = await kitchen.enter("ann");
  expect(textOf(await room.peer("oven").callTool("heat", { degrees: 180 }))).toBe("180 degrees");
  const bob = await kitchen.enter("bob");
  expect(await rejection(bob.room.peer("oven").callTool("heat", { degrees: 1 }))).toMatchObject({
    reason: "grant_refused",
  });
  expect(kitchen.done).toEqual(["heat 180"]);
});

test("[AC-6-2] what is refused is told to the caller alone, with an answer and a notice; nobody sees the call", async () => {
  const { ann, grant, calls, done, server } = await scene();
  const id = ann.nextId();
  const sent = ann.send("tools/call", { name: "heat", arguments: { degrees: 1 } }, id);
  const answer = await ann.client.answer(sent);
  expect(answer).toMatchObject({
    kind: "mcp",
    from: "system:gateway",
    payload: {
      id,
      error: {
        code: -32003,
        data: { reason: "missing", suggestion: expect.stringContaining("capabilities/request") },
      },
    },
  });
  expect(await ann.client.next()).toMatchObject({
    kind: "system",
    from: "system:gateway",
    to: ["ann"],
    correlation_id: sent,
    payload: { type: "tool_call_blocked", reason: "missing", suggestion: expect.any(String) },
  });
  expect(await ann.call({ capability: await grant() })).toBe("done");
  expect(calls()).toBe(1);
  expect(done).toEqual(["heat 180"]);
  const { body } = await server.call("GET", "/admin/audit?limit=200", await server.adminToken());
  const trail = body.records.map(({ action, actor, reason }: Seen) => [action, actor, reason]);
  expect(trail).toContainEqual(["refused", "ann", "missing"]);
  expect(trail).toContainEqual(["capability.use", "ann", undefined]);
});

test("[AC-6-1] [AC-6-3] a call or request without an id is refused, and nobody sees it", async () => {
  const { ann, server } = await scene();
  const watcher = await enterRaw(server, "watcher");
  await watcher.client.taken();
  const notify = (method: string, params: object) =>
    ann.client.outcome(
      ann.client.send({ kind: "mcp", to: ["oven"], payload: { jsonrpc: "2.0", method, params } }),
    );
  expect(await notify("tools/call", { name: "heat", arguments: { degrees: 1 } })).toBe("bad_json_rpc");
  expect(await notify("capabilities/request", { tools: ["heat"] })).toBe("bad_json_rpc");
  // The control: other notifications pass as everywhere.
  expect(await notify("notifications/roots/list_changed", {})).toBe("ack");
  const methods = (await watcher.client.taken()).map(({ payload }) => payload.method);
  expect(methods.filter((method) => method !== undefined)).toEqual(["notifications/roots/list_changed"]);
});

test("[AC-6-1] every fault the gateway can see is stopped there", async () => {
  const { ann, grant, calls, server } = await scene();
  const thief = await enterRaw(server, "mallory");
  const good = await grant();
  const cold = { arguments: { properties: { degrees: { maximum: 9 } } } };
  const outcomes = [
    await ann.call({ capability: "cap_2024" }),
    await ann.call({ capability: good, proof: null }),
    await ann.call({ capability: good, signer: await createKey() }),
    await ann.call({ capability: good, atMs: Date.now() - 61_000 }),
    await ann.call({ capability: good, tool: "burn" }),
    await ann.call({ capability: await grant(cold) }),
    await thief.call({ capability: good }),
  ];
  expect(outcomes).toEqual([
    "malformed",
    "proof_missing",
    "proof_invalid",
    "proof_invalid",
    "tool_not_covered",
    "arguments_refused",
    "wrong_holder",
  ]);
  expect(calls()).toBe(0);
  // The control: nothing was wrong with the rest of it.
  expect(await ann.call({ capability: good })).toBe("done");
  expect(calls()).toBe(1);
});

test("[AC-6-1] arguments whose schema only the owner understands are left to the owner", async () => {
  const { ann, guard } = await scene({
    validate: (_, args) => (JSON.stringify(args).includes("7") ? undefined : "no 7"),
  });
  const wish = {
    holder: "ann",
    key: ann.key.jwk,
    tools: ["heat"],
    duration: 60,
    arguments: { pattern: "7" },
  };
  const { token: capability } = await guard.issue(wish);
  expect(await ann.call({ capability, arguments: { degrees: 70 } })).toBe("done");
  expect(await ann.call({ capability, arguments: { degrees: 80 } })).toBe("arguments_refused");
});

test("[AC-6-4] [AC-9-7] a revocation holds at the gateway, also after its restart, and only the issuer's counts", async () => {
  const kitchen = await scene();
  const { ann, grant, guard, server, calls } = kitchen;
  const [one, other] = [await grant(), await grant()];
  const [first, second] = [one, other].map((token) => readCapabilityToken(token).claims.jti);
  const mallory = await enterRaw(server, "mallory");
  const notice = { kind: "system", payload: { type: "capability_revoked", ids: [second] } };
  await mallory.client.ack(mallory.client.send(notice));
  expect(await ann.call({ capability: one })).toBe("done");
  await guard.revoke([String(first)]);
  expect(await ann.call({ capability: one })).toBe("revoked");
  expect(await ann.call({ capability: other })).toBe("done");
  expect(calls()).toBe(2);
  const live = new Promise<void>((resolve) => {
    kitchen.oven.room.addEventListener("state", ({ detail }) => {
      if (detail.state === "live") resolve();
    });
  });
  await server.restart();
  await live;
  const again = await enterRaw(server, "ann", { key: ann.key });
  const shown = () => kitchen.oven.room.peers.find(({ id }) => id === "ann")?.key;
  await expect.poll(shown).toBeDefined();
  const before = calls();
  expect(await again.call({ capability: one })).toBe("revoked");
  expect(calls()).toBe(before);
  expect(await again.call({ capability: other })).toBe("done");
  const bad = again.client.send({ kind: "system", payload: { type: "capability_revoked", ids: [] } });
  expect(await again.client.outcome(bad)).toBe("bad_system");
});

test("[AC-6-1] [AC-1-1] policies are cached as they are declared; one that cannot be read is refused", async () => {
  const { ann, guard, calls } = await scene();
  await guard.setPolicy({ mode: "open" });
  expect(await ann.call({})).toBe("done");
  await guard.setPolicy({ mode: "denylist", rules: [{ agent: "ann", tools: ["heat"] }] });
  expect(await ann.call({})).toBe("policy_denied");
  expect(calls()).toBe(1);
  const bad = ann.client.send({
    kind: "system",
    payload: { type: "tool_access_policy", policy: { mode: "whatever" } },
  });
  expect(await ann.client.outcome(bad)).toBe("bad_system");
});

test("[AC-9-6] a topic's own policy counts where it is stricter, and where the owner has none", async () => {
  const rules = [{ agent: "ann", tools: ["burn"] }];
  const house = {
    limits: wideLimits,
    gateway: { topics: { [topic]: { toolAccess: { mode: "denylist" as const, rules } } } },
  };
  const { ann, calls } = await scene({ policy: { mode: "open" }, house });
  expect(await ann.call({ tool: "burn", arguments: {} })).toBe("policy_denied");
  // Open to the owner, but the topic wants a capability.
  expect(await ann.call({})).toBe("missing");
  expect(calls()).toBe(0);
  const open = await scene({ policy: { mode: "allowlist" }, house: enforced({ mode: "open" }) });
  expect(await open.ann.call({})).toBe("missing");
});

test("[AC-9-6] who serves without a guard is called where the topic's policy opens it, and nowhere else", async () => {
  for (const [option, expected] of [
    [enforced({ mode: "open" }), "done"],
    [enforced(), "missing"],
  ] as const) {
    const { ann, server } = await scene({ house: option });
    const plain = await enter(server, "plain");
    const done: string[] = [];
    await plain.room.serve(ovenServer(done));
    const hello = {
      protocolVersion: "2025-06-18",
      capabilities: {},
      clientInfo: { name: "ann", version: "1" },
    };
    const first = ann.send("initialize", hello, 90, "plain");
    await ann.client.find(({ correlation_id, kind }) => correlation_id === first && kind === "mcp");
    const sent = ann.send("tools/call", { name: "heat", arguments: { degrees: 5 } }, 91, "plain");
    const { payload } = await ann.client.find(
      ({ correlation_id, kind }) => correlation_id === sent && kind === "mcp",
    );
    expect(payload.error?.data.reason ?? "done").toBe(expected);
    expect(done).toEqual(expected === "done" ? ["heat 5"] : []);
  }
});

test("[AC-6-1] [AC-8-7] bound to a connection: the gateway knows which one it is", async () => {
  const { ann, server, calls } = await scene();
  const channel = ann.client.welcome.payload.connection_id;
  const asked = await ann.request("capabilities/request", { tools: ["heat"], channel });
  const capability = asked.result.token;
  expect(await ann.call({ capability, proven: { channel } })).toBe("done");
  await ann.client.leave();
  const again = await enterRaw(server, "ann", { key: ann.key });
  expect(await again.call({ capability, proven: { channel } })).toBe("wrong_channel");
  expect(calls()).toBe(1);
});

test("[AC-6-1] [AC-9-2] what was passed on is checked link by link", async () => {
  const { ann, server, grant, guard, calls } = await scene();
  const bob = await enterRaw(server, "bob");
  const mine = await grant({ delegations: 1 });
  const token = await delegateCapability(ann.key, mine, { holder: "bob", key: bob.key.jwk });
  expect(await bob.call({ capability: token })).toBe("done");
  await guard.revoke([readCapabilityToken(mine).claims.jti]);
  expect(await bob.call({ capability: token })).toBe("revoked");
  expect(calls()).toBe(1);
});

test("[AC-6-1] [AC-10-2] a restricted agent's proposal with its capability passes in somebody else's hands", async () => {
  const kitchen = await startKitchen({ policy: { ...annMayHeat, humans: false }, house: enforced() });
  const ann = await kitchen.enter("ann", { level: "restricted" });
  const bob = await kitchen.enter("bob");
  bob.room.addEventListener("proposal", ({ detail: { type, proposal } }) => {
    if (type === "proposed") void bob.room.proposals.fulfil(proposal).catch(() => {});
  });
  await requestCapability(ann.room, "oven", { tools: ["heat"] });
  expect(textOf(await ann.room.peer("oven").callTool("heat", { degrees: 66 }))).toBe("66 degrees");
  expect(kitchen.done).toEqual(["heat 66"]);
});

test("[AC-6-1] [AC-10-2] a human's proposal is good for one call, while it is open, and then for none", async () => {
  let aheadMs = 0;
  const clock = { ...systemClock, now: () => systemClock.now() + aheadMs };
  const { server, calls, oven } = await scene({
    policy: { mode: "allowlist" },
    house: { ...enforced(), clock },
  });
  const hana = await enterRaw(server, "hana", { kind: "human" });
  const bob = await enterRaw(server, "bob");
  const cid = await enterRaw(server, "cid");
  const params = { name: "heat", arguments: { degrees: 50 } };
  const propose = async (more: object = {}) => {
    const id = crypto.randomUUID();
    const payload = { method: "tools/call", params, ...more };
    await hana.client.ack(hana.client.send({ id, kind: "mcp/proposal", to: ["oven"], payload }));
    return id;
  };
  const take = async (correlation_id: string, by = bob) => {
    const id = crypto.randomUUID();
    const payload = { jsonrpc: "2.0", id: by.nextId(), method: "tools/call", params };
    by.client.send({ id, kind: "mcp", to: ["oven"], correlation_id, payload });
    const answer = await by.client.find((one) => one.kind === "mcp" && one.correlation_id === id);
    return outcomeOf(answer.payload);
  };
  const once = await propose();
  expect(await take(once)).toBe("done");
  expect([await take(once), await take(once)]).toEqual(["missing", "missing"]);

  const raced = await propose();
  const outcomes = await Promise.all([take(raced), take(raced, cid)]);
  expect(outcomes.sort()).toEqual(["done", "missing"]);

  const withdrawn = await propose();
  const about = { correlation_id: withdrawn, payload: {} };
  await hana.client.ack(hana.client.send({ kind: "mcpx.withdraw.proposal", ...about }));
  expect(await take(withdrawn)).toBe("missing");

  const rejected = await propose();
  await expect.poll(() => oven.room.proposals.get(rejected)).toBeDefined();
  const seen = oven.room.proposals.get(rejected) as Proposal;
  await oven.room.proposals.reject(seen, { reason: "hot enough" });
  expect(await take(rejected)).toBe("missing");

  const expires_at = new Date(clock.now() + 3_000_000).toISOString();
  const lives = [await propose({ ttl_ms: 60_000 }), await propose(), await propose({ expires_at })];
  aheadMs = 310_000;
  expect([await take(lives[0] as string), await take(lives[1] as string)]).toEqual(["missing", "missing"]);
  expect(calls()).toBe(2);
  // The control: this one is still open to the gateway, which lets it reach its owner.
  await take(lives[2] as string);
  expect(calls()).toBe(3);
});

test("[AC-6-1] [AC-5-1] a capability that is no text is refused and noted like any other", async () => {
  const { ann, calls, server } = await scene();
  for (const capability of [{ toString: null }, [{ toString: null }], null, 7]) {
    expect(await ann.call({ capability, proof: null })).toBe("malformed");
  }
  expect(calls()).toBe(0);
  const { body } = await server.call("GET", "/admin/audit?limit=200", await server.adminToken());
  const trail = body.records.map(({ action, actor, reason }: Seen) => [action, actor, reason]);
  expect(trail).toContainEqual(["refused", "ann", "malformed"]);
});

test("[AC-6-3] requests for capabilities are limited before their owner sees them", async () => {
  const { ann, calls } = await scene({
    house: {
      limits: { ...wideLimits, capabilityRequestsPerMinute: 3 },
      gateway: { topics: { [topic]: { toolAccess: "enforce" } } },
    },
  });
  const reasons: string[] = [];
  for (let n = 0; n < 4; n += 1) {
    const { error } = await ann.request("capabilities/request", { tools: ["burn"] });
    reasons.push(error.data.reason);
  }
  expect(reasons).toEqual(["grant_refused", "grant_refused", "grant_refused", "rate_limited"]);
  expect(calls()).toBe(0);
});

test("[AC-12-1] grants, uses, refusals and revocations are in the audit, and no token or proof is in it or in any log", async () => {
  const { ann, server, guard } = await scene();
  const asked = await ann.request("capabilities/request", { tools: ["heat"] });
  const capability = asked.result.token;
  const id = ann.nextId();
  const params = await ann.params({ capability }, id);
  await ann.request("tools/call", params, id);
  await ann.call({ capability, tool: "burn" });
  const { jti } = readCapabilityToken(capability).claims;
  await guard.revoke([jti]);
  const { body } = await server.call("GET", "/admin/audit?limit=500", await server.adminToken());
  const about = body.records.filter(({ action }: Seen) => action.startsWith("capability"));
  expect(about.map(({ action, actor, subject }: Seen) => [action, actor, subject]).reverse()).toEqual([
    ["capability.grant", "oven", "ann"],
    ["capability.use", "ann", "oven"],
    ["capability.revoke", "oven", undefined],
  ]);
  expect(about.find(({ action }: Seen) => action === "capability.grant").detail).toMatchObject({ jti });
  const { signature } = params.proof as { signature: string };
  for (const secret of [capability, capability.split(".")[2], signature]) {
    expect(JSON.stringify(body)).not.toContain(secret);
    expect(server.logged.join("")).not.toContain(secret);
  }
});

test("[X1-3.2-1] [AC-0-1] where it is off the gateway reads no methods: the call reaches the owner, whose guard refuses", async () => {
  const { ann, calls, done } = await scene({ house: { limits: wideLimits } });
  expect(await ann.call({})).toBe("missing");
  expect(calls()).toBe(1);
  expect(done).toEqual([]);
});

/** A call whose arguments are a text that no program would write; the proof is over what `JSON.parse` makes of it. */
async function callWith(ann: RawCaller, capability: string, argumentsText: string): Promise<string> {
  const id = ann.nextId();
  const params = await ann.params({ capability, arguments: JSON.parse(argumentsText) }, id);
  const marked = JSON.stringify({
    protocol: "mcpx/v0.1",
    id: `raw-${id}`,
    kind: "mcp",
    to: ["oven"],
    payload: { jsonrpc: "2.0", id, method: "tools/call", params: { ...params, arguments: "HERE" } },
  });
  ann.client.ws.send(marked.replace('"HERE"', argumentsText));
  const { payload } = await ann.client.find(
    (message) => message.kind === "mcp" && message.correlation_id === `raw-${id}` && !message.payload.method,
  );
  return outcomeOf(payload);
}

const limited = { arguments: { properties: { degrees: { type: "number", maximum: 200 } } } };

test.each([
  ["a key twice, the allowed one last", '{"degrees":999,"degrees":180}'],
  ["a key twice, one of them in disguise", '{"degrees":999,"\\u0064egrees":180}'],
  ["a number that is rounded to an allowed one", '{"degrees":200.00000000000000001}'],
  ["a number that a double cannot hold", '{"degrees":180,"n":9007199254740993}'],
])("[AC-7-4] [AC-6-1] what two readers could read differently reaches no owner: %s", async (_, text) => {
  const { ann, grant, calls } = await scene();
  expect(await callWith(ann, await grant(limited), text)).toBe("bad_params");
  expect(calls()).toBe(0);
});

test.each([
  ["written otherwise", '{"degrees":180.0}', "done"],
  ["with an exponent", '{"degrees":18e1}', "done"],
  ["too much", '{"degrees":201}', "arguments_refused"],
  ["too much, in another type", '{"degrees":"180"}', "arguments_refused"],
])("[AC-7-4] the control: the same capability with one number, %s", async (_, text, outcome) => {
  const { ann, grant, calls } = await scene();
  expect(await callWith(ann, await grant(limited), text)).toBe(outcome);
  expect(calls()).toBe(outcome === "done" ? 1 : 0);
});

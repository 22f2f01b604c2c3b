// The life of capabilities: announced, refreshed, bound, passed on, encrypted, revoked, and what a restart leaves.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Room, RoomEnvelope } from "@mcpx/client";
import {
  type AccessKey,
  createGuard,
  createKey,
  delegateCapability,
  type GuardOptions,
  holdCapability,
  requestCapability,
} from "@mcpx/client/guard";
import { createSqliteAccessStore, keyFile } from "@mcpx/client/node";
import { isObject, readCapabilityToken } from "@mcpx/protocol";
import { expect, onTestFinished, test } from "vitest";
import { cuttable } from "../client/support/cuttable.ts";
import { nextEvent, rejection, seen, textOf } from "../client/support/house.ts";
import {
  annMayHeat,
  enter,
  type Kitchen,
  ovenServer,
  startKitchen,
  topic,
  wideLimits,
} from "./support/guarded-kitchen.ts";
import { enterRaw, type RawCaller } from "./support/raw-caller.ts";

const heat = { degrees: 180 };
const hour = 3_600_000;

function heard(room: Room): RoomEnvelope[] {
  const all: RoomEnvelope[] = [];
  room.addEventListener("envelope", ({ detail }) => void all.push(detail));
  return all;
}

test("[AC-1-1] a policy is announced when the guard comes and when it changes; the newest counts", async () => {
  const kitchen = await startKitchen({ policy: annMayHeat });
  const announced = async () =>
    (await kitchen.oven.room.history({ limit: 50 })).envelopes
      .filter(({ payload }) => payload.type === "tool_access_policy")
      .map(({ from, kind, payload }) => ({ from, kind, policy: payload.policy }));
  expect(await announced()).toEqual([{ from: "oven", kind: "system", policy: annMayHeat }]);
  await kitchen.guard.setPolicy({ mode: "open" });
  expect((await announced())[0]?.policy).toEqual({ mode: "open", rules: [] });
  expect(await rejection(kitchen.guard.setPolicy({ mode: "shut" as never }))).toMatchObject({
    code: "bad_system",
  });
});

for (const [name, comeBack] of [
  ["its connection was cut", async (_, cut) => cut()],
  ["the gateway was restarted", ({ server }) => server.restart()],
] as [string, (kitchen: Kitchen, cut: () => void) => Promise<void> | void][]) {
  test(`[AC-1-1] a policy is announced again when its owner returns after ${name}, and counts again`, async () => {
    const wires = cuttable();
    const house = {
      limits: wideLimits,
      gateway: { topics: { [topic]: { toolAccess: "enforce" as const } } },
    };
    const kitchen = await startKitchen({ house, join: { WebSocket: wires.WebSocket } });
    const policy = { mode: "open" as const, rules: [] };
    await kitchen.guard.setPolicy(policy);
    const announced = async () =>
      (await kitchen.oven.room.history({ limit: 50 })).envelopes
        .filter(({ payload }) => payload.type === "tool_access_policy")
        .map((envelope) => envelope.payload.policy);
    const before = await announced();
    const live = nextEvent(kitchen.oven.room, "state", ({ state }) => state === "live");
    await comeBack(kitchen, wires.cut);
    await live;
    await expect.poll(announced).toEqual([policy, ...before]);
    // The gateway checks calls by what was announced last; without a policy it wants a capability.
    const ann = await enterRaw(kitchen.server, "ann");
    expect(await ann.call({})).toBe("done");
  });
}

test("[AC-1-1] what a rule gave ends with the rule; what a human gave stays", async () => {
  const kitchen = await startKitchen({ policy: annMayHeat });
  const ann = await kitchen.enter("ann");
  const bob = await kitchen.enter("bob");
  await ann.room.peer("oven").callTool("heat", heat);
  const { token } = await kitchen.guard.issue({ holder: "bob", tools: ["heat"], duration: 60 });
  holdCapability(bob.room, "oven", token);
  await kitchen.guard.setPolicy({ mode: "allowlist" });
  expect(await rejection(ann.room.peer("oven").callTool("heat", heat))).toMatchObject({ reason: "revoked" });
  expect(textOf(await bob.room.peer("oven").callTool("heat", heat))).toBe("180 degrees");
});

test("[AC-1-3] without a policy what only reads is open, the rest needs a capability; strict opens nothing", async () => {
  const kitchen = await startKitchen();
  const ann = await kitchen.enter("ann");
  expect(textOf(await ann.room.peer("oven").callTool("look"))).toBe("a cake");
  expect(await rejection(ann.room.peer("oven").callTool("heat", heat))).toMatchObject({
    reason: "grant_refused",
  });
  const strict = await startKitchen({ strict: true });
  const bob = await strict.enter("bob", { kind: "human" });
  expect(await rejection(bob.room.peer("oven").callTool("look"))).toMatchObject({ reason: "grant_refused" });
});

test("[AC-9-1] listings say what each tool needs of who asks", async () => {
  const kitchen = await startKitchen({
    policy: {
      mode: "allowlist",
      rules: [
        { agent: "ann", tools: ["heat"], requires_approval: true },
        { agent: "*", tools: ["look"], effect: "open" },
        { agent: "bob", tools: ["heat"], effect: "deny" },
      ],
    },
  });
  const needs = async (id: string) => {
    const { room } = await kitchen.enter(id);
    const tools = await room.peer("oven").listTools();
    return Object.fromEntries(
      tools.map(({ name, _meta }) => {
        const { access, approval } = (_meta as Record<string, { access: string; approval: boolean }>)[
          "org.mcpx/access"
        ] ?? { access: "unsaid", approval: false };
        return [name, approval ? `${access}, approved` : access];
      }),
    );
  };
  expect(await needs("ann")).toEqual({ heat: "granted, approved", look: "open", burn: "ask" });
  expect(await needs("bob")).toEqual({ heat: "denied", look: "open", burn: "ask" });
});

test("[AC-2-2] [AC-7-3] the owner grants less and shorter; the earliest of all ends counts", async () => {
  const start = Date.now();
  const soon = new Date(start + 90_000).toISOString();
  const rules = [
    { agent: "ann", tools: ["heat"] },
    { agent: "ann", tools: ["look"], expires: new Date(start + 30_000).toISOString() },
  ];
  const kitchen = await startKitchen({ policy: { mode: "allowlist", rules }, durationMaxMs: 10 * 60_000 });
  const { room } = await kitchen.enter("ann");
  const life = async (wish: object) => {
    const grant = await requestCapability(room, "oven", { tools: ["heat"], ...wish });
    const { exp, tools, maxUses } = readCapabilityToken(grant.token).claims;
    expect(grant).toMatchObject({
      tools,
      expires: new Date(exp * 1_000).toISOString(),
      signature: grant.token.split(".")[2],
    });
    return { seconds: Math.round((exp * 1_000 - Date.now()) / 1_000), tools, maxUses };
  };
  const about = (seconds: number) => expect.toSatisfy((value: number) => Math.abs(value - seconds) <= 15);
  expect(await life({ duration: 100_000 })).toMatchObject({ seconds: about(600), tools: ["heat"] });
  expect(await life({ duration: 60 })).toMatchObject({ seconds: about(60) });
  expect(await life({ constraints: { validUntil: soon, maxUses: 2 } })).toMatchObject({
    seconds: about(90),
    maxUses: 2,
  });
  // The capability does not outlive the rule it comes from. [AC-1-9]
  expect(await life({ tools: ["look", "heat"] })).toMatchObject({
    seconds: about(30),
    tools: ["look", "heat"],
  });
  expect(await life({ tools: "*" })).toMatchObject({ tools: ["heat", "look"] });
  // What nobody agrees to is left out.
  expect(await life({ tools: ["heat", "burn"] })).toMatchObject({ tools: ["heat"] });
  expect(await rejection(life({ constraints: { validUntil: "2020-01-01T00:00:00Z" } }))).toMatchObject({
    reason: "grant_refused",
  });
  expect(await rejection(life({ constraints: { arguments: { pattern: "x" } } }))).toMatchObject({
    reason: "grant_refused",
  });
});

test("[AC-3-2] what destroys needs a yes even where a rule allows it, and a yes may be in other words", async () => {
  const asked: unknown[] = [];
  const kitchen = await startKitchen({
    policy: { mode: "allowlist", rules: [{ agent: "ann", tools: "*" }] },
    approve: ({ signal: _, ...question }) => {
      asked.push(question);
      return { duration: 7 * 86_400, maxUses: 1 };
    },
  });
  const { room } = await kitchen.enter("ann");
  await room.peer("oven").callTool("heat", heat);
  expect(asked).toEqual([]);
  const grant = await requestCapability(room, "oven", { tools: ["burn"], reason: "crème brûlée" });
  expect(asked).toEqual([{ kind: "grant", from: "ann", tools: ["burn"], reason: "crème brûlée" }]);
  // Long-lived only because somebody said so. [AC-9-8]
  expect(Date.parse(grant.expires) - Date.now()).toBeGreaterThan(6 * 86_400_000);
  expect(textOf(await room.peer("oven").callTool("burn"))).toBe("ashes");
});

test("[AC-9-8] what is nearly over is refreshed before it is used; what was counted stays counted", async () => {
  let nowMs = Date.now();
  const kitchen = await startKitchen({ policy: annMayHeat, now: () => nowMs });
  const { room } = await kitchen.enter("ann");
  const first = await requestCapability(room, "oven", { tools: ["heat"], duration: 600 });
  await room.peer("oven").callTool("heat", heat);
  const counted = await requestCapability(room, "oven", { tools: ["heat"], constraints: { maxUses: 3 } });
  await room.peer("oven").callTool("heat", heat);
  const { jti } = readCapabilityToken(counted.token).claims;
  const again = await requestCapability(room, "oven", { tools: ["heat"], refresh: jti });
  expect(readCapabilityToken(again.token).claims.maxUses).toBe(2);
  const before = (await kitchen.guard.grants()).find((grant) => grant.jti === jti);
  expect(before).toMatchObject({ isRevoked: true });
  const strange = requestCapability(room, "oven", { tools: ["heat"], refresh: "nobodys" });
  expect(await rejection(strange)).toMatchObject({ reason: "grant_refused" });
  nowMs += hour;
  const { claims } = readCapabilityToken(first.token);
  const over = requestCapability(room, "oven", { tools: ["heat"], refresh: claims.jti });
  expect(await rejection(over)).toMatchObject({ reason: "grant_refused" });
});

test("[AC-9-8] a capability near its end is replaced without anybody noticing", async () => {
  const kitchen = await startKitchen({ policy: annMayHeat });
  const { room } = await kitchen.enter("ann");
  await requestCapability(room, "oven", { tools: ["heat"], duration: 2 });
  const until = Date.now() + 4_000;
  let longestMs = 0;
  for (let last = Date.now(); last < until; ) {
    expect(textOf(await room.peer("oven").callTool("heat", heat))).toBe("180 degrees");
    const now = Date.now();
    longestMs = Math.max(longestMs, now - last);
    last = now;
  }
  const refused = kitchen.events.filter(({ type }) => type === "refused");
  const granted = kitchen.events.filter(({ type }) => type === "granted");
  expect(granted.length).toBeGreaterThan(1);
  // A machine that stood still until it was over has none to refresh.
  const reasons = longestMs < 1_500 ? ["expired"] : ["expired", "missing"];
  expect(refused.filter(({ reason }) => !reasons.includes(String(reason)))).toEqual([]);
});

test("[AC-9-3] [AC-9-7] a revocation works at once and is told to the room", async () => {
  const kitchen = await startKitchen({ policy: { mode: "allowlist" } });
  const ann = await kitchen.enter("ann");
  const { token, id } = await kitchen.guard.issue({ holder: "ann", tools: ["heat"], duration: 600 });
  holdCapability(ann.room, "oven", token);
  await ann.room.peer("oven").callTool("heat", heat);
  const notice = nextEvent(ann.room, "envelope", ({ payload }) => payload.type === "capability_revoked");
  await kitchen.guard.revoke([id]);
  expect(await notice).toMatchObject({ from: "oven", kind: "system", payload: { ids: [id] } });
  expect(await rejection(ann.room.peer("oven").callTool("heat", heat))).toMatchObject({ reason: "revoked" });
  expect(kitchen.done).toHaveLength(1);
});

/** Shown as any other, and no key for capabilities. */
async function p256Key(): Promise<AccessKey> {
  const pair = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, [
    "sign",
    "verify",
  ]);
  const { kty, crv, x, y } = await crypto.subtle.exportKey("jwk", pair.publicKey);
  return { jwk: { kty, crv, x, y } as never, sign: async () => new Uint8Array(64) };
}

test("[AC-9-9] a new key ends what was bound to the old one", async () => {
  const kitchen = await startKitchen({ policy: { mode: "allowlist" } });
  const old = await enterRaw(kitchen.server, "ann");
  const wish = { holder: "ann", key: old.key.jwk, tools: ["heat"], duration: 600 };
  const { token: capability } = await kitchen.guard.issue(wish);
  expect(await old.call({ capability })).toBe("done");
  const admin = await kitchen.server.adminToken();
  expect((await kitchen.server.call("DELETE", "/admin/participants/ann/key", admin)).status).toBeLessThan(
    300,
  );
  await old.client.leave();
  const other = await enterRaw(kitchen.server, "ann", { key: await p256Key() });
  expect(await other.call({ capability, signer: old.key })).toBe("wrong_holder");
  await kitchen.server.call("DELETE", "/admin/participants/ann/key", admin);
  await other.client.leave();
  const renewed = await enterRaw(kitchen.server, "ann");
  expect(await renewed.call({ capability, signer: old.key })).toBe("wrong_holder");
  expect(await renewed.call({ capability })).toBe("wrong_holder");
});

test("[AC-8-4] [AC-8-7] bound to a connection it ends with it, also on resume; unbound it does not", async () => {
  const wires = cuttable();
  const kitchen = await startKitchen({ policy: annMayHeat });
  const { room } = await kitchen.enter("ann", { join: { WebSocket: wires.WebSocket } });
  const grant = await requestCapability(room, "oven", { tools: ["heat"], isBound: true });
  expect(readCapabilityToken(grant.token).claims.channel).toEqual(expect.any(String));
  await room.peer("oven").callTool("heat", heat);
  expect(await kitchen.guard.grants()).toMatchObject([{ uses: 1 }]);
  const live = nextEvent(room, "state", ({ state }) => state === "live");
  wires.cut();
  await live;
  await seen(kitchen.oven.room, "ann");
  // It asks for another, unbound this time, which outlives a connection.
  await room.peer("oven").callTool("heat", heat);
  expect(await kitchen.guard.grants()).toMatchObject([{ uses: 1 }, { uses: 1 }]);
  const again = nextEvent(room, "state", ({ state }) => state === "live");
  wires.cut();
  await again;
  await room.peer("oven").callTool("heat", heat);
  expect(await kitchen.guard.grants()).toMatchObject([{ uses: 1 }, { uses: 2 }]);
});

test("[AC-8-7] the old connection's capability is worth nothing over the new one", async () => {
  const kitchen = await startKitchen({ policy: annMayHeat });
  const key = await createKey();
  const first = await enterRaw(kitchen.server, "ann", { key });
  const channel = first.client.welcome.payload.connection_id;
  const asked = await first.request("capabilities/request", { tools: ["heat"], channel });
  const capability = asked.result.token;
  const proven = { channel };
  expect(await first.call({ capability, proven })).toBe("done");
  await first.client.leave();
  const second = await enterRaw(kitchen.server, "ann", { key });
  expect(await second.call({ capability, proven })).toBe("wrong_channel");
});

test("[AC-9-2] pre-issued and passed on, while the first holder is away", async () => {
  const kitchen = await startKitchen({ policy: { mode: "allowlist" } });
  const ann = await kitchen.enter("ann");
  const bob = await kitchen.enter("bob");
  const wish = { holder: "ann", tools: ["heat", "look"], duration: 86_400, delegations: 1 };
  const { token } = await kitchen.guard.issue(wish);
  const given = { holder: "bob", key: bob.key.jwk, tools: ["heat"], maxUses: 1 };
  const narrower = await delegateCapability(ann.key, token, given);
  await expect(delegateCapability(ann.key, token, { ...given, tools: "*" })).rejects.toMatchObject({
    code: "delegation_widened",
  });
  await expect(delegateCapability(bob.key, narrower, given)).rejects.toMatchObject({
    code: "delegation_too_long",
  });
  await ann.room.close();
  holdCapability(bob.room, "oven", narrower);
  expect(textOf(await bob.room.peer("oven").callTool("heat", heat))).toBe("180 degrees");
  expect(await rejection(bob.room.peer("oven").callTool("heat", heat))).toMatchObject({
    reason: "grant_refused",
  });
});

test("[AC-8-3] [AC-8-6] an encrypted grant is read by its holder alone, and works as any other", async () => {
  const kitchen = await startKitchen({ policy: annMayHeat });
  const ann = await kitchen.enter("ann");
  const thief = await kitchen.enter("mallory");
  const all = heard(thief.room);
  const grant = await requestCapability(ann.room, "oven", { tools: ["heat"], isEncrypted: true });
  const sent = all.find(
    ({ from, payload }) => from === "oven" && isObject(payload.result) && payload.result.token,
  );
  expect(sent).toMatchObject({ to: ["ann"], payload: { result: { encrypted: true } } });
  expect(JSON.stringify(all)).not.toContain(grant.token.split(".")[2]);
  expect(textOf(await ann.room.peer("oven").callTool("heat", heat))).toBe("180 degrees");
  const encrypt_to = { jwk: { kty: "OKP", crv: "X25519", x: "A".repeat(43) }, signature: "a..b" };
  const unsigned = ann.room.peer("oven").request("capabilities/request", { tools: ["heat"], encrypt_to });
  expect(await rejection(unsigned)).toMatchObject({ reason: "grant_refused" });
});

test("[AC-9-4] keys are shown in the room, also after a return", async () => {
  const wires = cuttable();
  const kitchen = await startKitchen({ policy: annMayHeat });
  const ann = await kitchen.enter("ann", { join: { WebSocket: wires.WebSocket } });
  const shown = () => kitchen.oven.room.peers.find(({ id }) => id === "ann")?.key;
  expect(shown()).toEqual(ann.key.jwk);
  const live = nextEvent(ann.room, "state", ({ state }) => state === "live");
  wires.cut();
  await live;
  await expect.poll(shown).toEqual(ann.key.jwk);
});

test("[AC-9-2] a pre-issued capability is passed on while its owner is offline, and used when the owner is back", async () => {
  const { ann, issue, kitchen, leave, comeBack } = await restartable((dir) =>
    createSqliteAccessStore(join(dir, "access.db")),
  );
  const bob = await enterRaw(kitchen.server, "bob");
  const token = await issue({ duration: 86_400, delegations: 1 });
  await leave();
  const participants = async () => {
    const path = `/v0/topics/${encodeURIComponent(topic)}/participants`;
    const { body } = await kitchen.server.call("GET", path, await kitchen.server.adminToken());
    return body.participants.map(({ id }: { id: string }) => id);
  };
  const given = { holder: "bob", key: bob.key.jwk, maxUses: 1 };
  await expect(delegateCapability(ann.key, token, { ...given, tools: "*" })).rejects.toMatchObject({
    code: "delegation_widened",
  });
  const narrower = await delegateCapability(ann.key, token, given);
  // Neither of them needed the owner for that.
  expect(await participants()).toEqual(["ann", "bob"]);
  const { done } = await comeBack();
  expect(await participants()).toContain("oven");
  await introduce(bob);
  expect(await bob.call({ capability: narrower })).toBe("done");
  expect(await bob.call({ capability: narrower })).toBe("uses_exhausted");
  expect(await ann.call({ capability: token })).toBe("done");
  expect(done).toEqual(["heat 180", "heat 180"]);
});

async function restartable(store: (dir: string) => GuardOptions["store"]) {
  const dir = mkdtempSync(join(tmpdir(), "mcpx-guard-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  const own = async () => ({ key: await keyFile(join(dir, "oven.json")), store: store(dir) });
  const first = await own();
  const kitchen = await startKitchen({
    policy: { mode: "allowlist" },
    key: first.key,
    ...optional(first.store),
  });
  const ann = await enterRaw(kitchen.server, "ann");
  const issue = async (more: object) =>
    (await kitchen.guard.issue({ holder: "ann", key: ann.key.jwk, tools: ["heat"], duration: 600, ...more }))
      .token;
  /** The oven's program ends; the room has seen it go. */
  const leave = async () => {
    const gone = ann.client.find(
      ({ payload }) => payload.event === "leave" && payload.participant.id === "oven",
    );
    await kitchen.oven.room.close();
    await first.store?.close();
    await gone;
  };
  /** And begins anew, with the same key. */
  const comeBack = async () => {
    const { key, store: again } = await own();
    const oven = await enter(kitchen.server, "oven", { key });
    onTestFinished(async () => again?.close());
    const guard = createGuard({ key, policy: { mode: "allowlist" }, ...optional(again) });
    const done: string[] = [];
    await oven.room.serve(ovenServer(done), { guard });
    await introduce(ann);
    return { guard, done };
  };
  const restart = async () => {
    await leave();
    return comeBack();
  };
  return { kitchen, ann, issue, leave, comeBack, restart };
}

async function introduce(caller: RawCaller): Promise<void> {
  await caller.request("initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: "raw", version: "1" },
  });
}

const optional = (store: GuardOptions["store"]) => (store === undefined ? {} : { store });

test("[AC-8-2] [AC-7-2] [AC-9-7] a restart forgets neither proofs nor uses nor revocations, and leaves the rest good", async () => {
  const { ann, issue, kitchen, restart } = await restartable((dir) =>
    createSqliteAccessStore(join(dir, "access.db")),
  );
  const [many, once, revoked] = [await issue({}), await issue({ maxUses: 1 }), await issue({})];
  const params = await ann.params({ capability: many }, 500);
  expect((await ann.request("tools/call", params, 500)).result).toBeDefined();
  expect(await ann.call({ capability: once })).toBe("done");
  await kitchen.guard.revoke([readCapabilityToken(revoked).claims.jti]);
  const { done } = await restart();
  expect((await ann.request("tools/call", params, 500)).error.data.reason).toBe("replayed");
  expect(await ann.call({ capability: once })).toBe("uses_exhausted");
  expect(await ann.call({ capability: revoked })).toBe("revoked");
  expect(await ann.call({ capability: many })).toBe("done");
  expect(done).toEqual(["heat 180"]);
});

test("[AC-8-2] without a store on disk nothing granted before a restart is worth anything", async () => {
  const { ann, issue, restart } = await restartable(() => undefined);
  const capability = await issue({});
  expect(await ann.call({ capability })).toBe("done");
  const { done } = await restart();
  expect(await ann.call({ capability })).toBe("revoked");
  expect(done).toEqual([]);
});

test("[AC-12-1] grants, uses and refusals leave a trail without a token or a proof in it, nor in any log", async () => {
  const kitchen = await startKitchen({ policy: annMayHeat });
  const ann = await kitchen.enter("ann");
  const all = heard(ann.room);
  await ann.room.peer("oven").callTool("heat", heat);
  await rejection(ann.room.peer("oven").callTool("burn"));
  const [grant] = await kitchen.guard.grants();
  await kitchen.guard.revoke([String(grant?.jti)]);
  expect(kitchen.events).toMatchObject([
    { type: "refused", from: "ann", reason: "missing" },
    { type: "granted", from: "ann", tools: ["heat"], jti: grant?.jti },
    { type: "used", from: "ann", tools: ["heat"], jti: grant?.jti },
    { type: "refused", from: "ann", reason: "missing" },
    { type: "refused", from: "ann", reason: "grant_refused" },
    { type: "revoked", from: "ann", jti: grant?.jti },
  ]);
  const secrets = all
    .flatMap(({ payload }) => [payload.params, payload.result])
    .flatMap((body) => Object.values((body ?? {}) as Record<string, unknown>))
    .flatMap((value) => (typeof value === "object" && value !== null ? Object.values(value) : [value]))
    .filter((value) => typeof value === "string" && value.split(".").length === 3);
  expect(secrets.length).toBeGreaterThan(1);
  for (const secret of secrets) {
    expect(JSON.stringify(kitchen.events)).not.toContain(secret);
    expect(kitchen.server.logged.join("")).not.toContain(secret);
  }
});

// Every reason for a no, over real sockets, from a caller that sends whatever it likes. Each case has its control: the
// same call without the fault is done.
import { createKey, delegateCapability } from "@mcpx/client/guard";
import {
  type CapabilityClaims,
  capabilityType,
  errorTable,
  isAccessReason,
  type JsonObject,
  type Reason,
  readCapabilityToken,
  signCapability,
  toBase64url,
} from "@mcpx/protocol";
import { afterAll, expect, test } from "vitest";
import { startKitchen, topic } from "./support/guarded-kitchen.ts";
import { enterRaw, type RawCall, type RawCaller } from "./support/raw-caller.ts";

const hour = 3_600;
const reached = new Set<string>();

async function scene(options: Parameters<typeof startKitchen>[0] = {}) {
  const kitchen = await startKitchen({ policy: { mode: "allowlist" }, ...options });
  const ann = await enterRaw(kitchen.server, "ann");
  const grant = async (more: object = {}) =>
    (await kitchen.guard.issue({ holder: "ann", key: ann.key.jwk, tools: ["heat"], duration: hour, ...more }))
      .token;
  /** As the owner would sign it; for the store it is the grant it was made from. */
  const changed = async (more: Partial<CapabilityClaims>, key = kitchen.oven.key) =>
    signCapability(key, { ...readCapabilityToken(await grant()).claims, ...more });
  return { ...kitchen, ann, grant, changed };
}

type Scene = Awaited<ReturnType<typeof scene>>;

async function refused(by: RawCaller, call: RawCall, reason: Reason): Promise<void> {
  const id = by.nextId();
  const { error } = await by.request("tools/call", await by.params(call, id), id);
  expect(error, reason).toMatchObject({
    code: -32003,
    message: errorTable[reason].message,
    data: { reason, detail: expect.any(String), suggestion: errorTable[reason].suggestion },
  });
  reached.add(reason);
}

const cases: [string, Reason, (scene: Scene) => Promise<RawCall>][] = [
  ["[AC-5-1] no capability", "missing", async () => ({})],
  [
    "[AC-5-1] a bearer token as the source has it",
    "malformed",
    async () => ({ capability: "cap_2024_abc123" }),
  ],
  [
    "[AC-5-1] alg none",
    "malformed",
    async ({ grant }) => {
      const [, body] = (await grant()).split(".");
      const head = toBase64url(
        new TextEncoder().encode(JSON.stringify({ alg: "none", typ: capabilityType })),
      );
      return { capability: `${head}.${body}.` };
    },
  ],
  [
    "[AC-5-1] another token type: the one it came in with",
    "malformed",
    async ({ server }) => ({ capability: await server.token({ sub: "ann", topics: ["**"], level: "full" }) }),
  ],
  [
    "[AC-5-1] signed by itself",
    "bad_signature",
    async ({ changed, ann }) => ({ capability: await changed({}, ann.key) }),
  ],
  [
    "[AC-5-1] from somebody who does not own the oven",
    "wrong_issuer",
    async ({ changed }) => ({ capability: await changed({ iss: "mallory" }, await createKey()) }),
  ],
  [
    "of another room",
    "wrong_topic",
    async ({ changed }) => ({ capability: await changed({ topic: "cellar" }) }),
  ],
  [
    "[AC-5-2] over",
    "expired",
    async ({ changed }) => ({ capability: await changed({ exp: Math.floor(Date.now() / 1_000) - 1 }) }),
  ],
  [
    "[AC-5-2] of tomorrow",
    "not_yet_valid",
    async ({ changed }) => ({ capability: await changed({ nbf: Math.floor(Date.now() / 1_000) + 5 }) }),
  ],
  [
    "[AC-5-3] for another tool",
    "tool_not_covered",
    async ({ grant }) => ({ capability: await grant(), tool: "burn" }),
  ],
  [
    "[AC-5-3] [AC-7-4] too hot",
    "arguments_refused",
    async ({ grant }) => ({
      capability: await grant({ arguments: { properties: { degrees: { maximum: 100 } } } }),
    }),
  ],
  [
    "[AC-7-4] a limit dodged by type",
    "arguments_refused",
    async ({ grant }) => ({
      capability: await grant({ arguments: { properties: { degrees: { maximum: 200 } } } }),
      arguments: { degrees: "900" },
    }),
  ],
  [
    "[AC-5-4] of somebody else",
    "wrong_holder",
    async ({ changed }) => ({ capability: await changed({ holder: "bob" }) }),
  ],
  [
    "[AC-5-4] bound to another key",
    "wrong_holder",
    async ({ changed }) => ({ capability: await changed({ cnf: { jwk: (await createKey()).jwk } }) }),
  ],
  [
    "[AC-5-4] bound to a connection nobody knows",
    "wrong_channel",
    async ({ changed }) => ({
      capability: await changed({ channel: "conn-9" }),
      proven: { channel: "conn-9" },
    }),
  ],
  [
    "[AC-5-5] revoked",
    "revoked",
    async ({ grant, guard }) => {
      const capability = await grant();
      await guard.revoke([readCapabilityToken(capability).claims.jti]);
      return { capability };
    },
  ],
  [
    "[AC-5-5] signed by the owner's key, but never granted by this guard",
    "revoked",
    async ({ changed }) => ({ capability: await changed({ jti: "made-elsewhere" }) }),
  ],
  [
    "[AC-9-2] passed on, and wider",
    "delegation_widened",
    async ({ grant, ann }) => {
      const parent = await grant({ delegations: 1, holder: "ann" });
      const { claims } = readCapabilityToken(parent);
      const { delegations: _, ...rest } = claims;
      const child = { ...rest, jti: "child", iss: "ann", tools: "*" as const, parent };
      return { capability: await signCapability(ann.key, child) };
    },
  ],
  [
    "[AC-9-2] passed on too often",
    "delegation_too_long",
    async ({ grant, ann }) => {
      const parent = await grant();
      const child = { ...readCapabilityToken(parent).claims, jti: "child", iss: "ann", parent };
      return { capability: await signCapability(ann.key, child) };
    },
  ],
  ["[AC-5-6] no proof", "proof_missing", async ({ grant }) => ({ capability: await grant(), proof: null })],
  [
    "[AC-5-6] a proof by another key",
    "proof_invalid",
    async ({ grant }) => ({ capability: await grant(), signer: await createKey() }),
  ],
  [
    "[AC-8-1] a proof of another call",
    "proof_invalid",
    async ({ grant }) => ({ capability: await grant(), proven: { arguments: { degrees: 20 } } }),
  ],
  [
    "[AC-8-2] a proof of 61 s ago",
    "proof_invalid",
    async ({ grant }) => ({ capability: await grant(), atMs: Date.now() - 61_000 }),
  ],
  [
    "[AC-8-2] a proof from 61 s ahead",
    "proof_invalid",
    async ({ grant }) => ({ capability: await grant(), atMs: Date.now() + 61_000 }),
  ],
];

test.each(cases)("%s: %s", async (_, reason, make) => {
  const kitchen = await scene();
  await refused(kitchen.ann, await make(kitchen), reason);
  expect(kitchen.done).toEqual([]);
  expect(await kitchen.ann.call({ capability: await kitchen.grant() })).toBe("done");
  expect(kitchen.done).toEqual(["heat 180"]);
});

test("[AC-8-2] replayed: the same call again, word for word, under a new envelope", async () => {
  const { ann, grant, done } = await scene();
  const params = await ann.params({ capability: await grant() }, 70);
  expect((await ann.request("tools/call", params, 70)).result).toBeDefined();
  const { error } = await ann.request("tools/call", params, 70);
  expect(error.data.reason).toBe("replayed");
  reached.add("replayed");
  expect(done).toEqual(["heat 180"]);
});

test("[AC-8-2] replayed: to the last millisecond at which a proof from ahead is in time", async () => {
  let nowMs = Date.now();
  const { ann, grant, done } = await scene({ now: () => nowMs });
  const params = await ann.params({ capability: await grant(), atMs: nowMs + 60_000 }, 80);
  expect((await ann.request("tools/call", params, 80)).result).toBeDefined();
  const again = async (ms: number) => {
    nowMs += ms;
    return (await ann.request("tools/call", params, 80)).error.data.reason;
  };
  expect(await again(120_000)).toBe("replayed");
  expect(await again(1)).toBe("proof_invalid");
  expect(done).toEqual(["heat 180"]);
});

test("[AC-5-5] [AC-7-2] uses_exhausted: a hundred at once, and as many are done as there are uses", async () => {
  const { ann, grant, done } = await scene();
  const capability = await grant({ maxUses: 3 });
  const sent = await Promise.all(
    Array.from({ length: 100 }, async (_, n) => ann.params({ capability }, 1_000 + n)),
  );
  sent.forEach((params, n) => void ann.send("tools/call", params, 1_000 + n));
  const reasons: string[] = [];
  while (reasons.length < 100) {
    const { payload } = await ann.client.find(({ kind, from }) => kind === "mcp" && from === "oven");
    reasons.push(payload.error?.data.reason ?? "done");
  }
  expect(reasons.filter((reason) => reason === "done")).toHaveLength(3);
  expect(reasons.filter((reason) => reason === "uses_exhausted")).toHaveLength(97);
  expect(done).toHaveLength(3);
  reached.add("uses_exhausted");
});

test("[AC-8-2] replayed: a proof raced a hundred times is good once", async () => {
  const { ann, grant, done } = await scene();
  const params = await ann.params({ capability: await grant() }, 5);
  for (let n = 0; n < 100; n += 1) ann.send("tools/call", params, 5);
  const reasons: string[] = [];
  while (reasons.length < 100) {
    const { payload } = await ann.client.find(({ kind, from }) => kind === "mcp" && from === "oven");
    reasons.push(payload.error?.data.reason ?? "done");
  }
  expect(reasons.filter((reason) => reason === "done")).toHaveLength(1);
  expect(reasons.filter((reason) => reason === "replayed")).toHaveLength(99);
  expect(done).toHaveLength(1);
});

test("[AC-1-2] policy_denied: a deny rule beats a capability that is good in every way", async () => {
  const kitchen = await scene();
  const capability = await kitchen.grant();
  expect(await kitchen.ann.call({ capability })).toBe("done");
  await kitchen.guard.setPolicy({ mode: "denylist", rules: [{ agent: "ann", tools: ["heat"] }] });
  await refused(kitchen.ann, { capability }, "policy_denied");
});

test("[AC-1-10] approval_refused, approval_timeout: asked for each call, also with a capability", async () => {
  const rules = [{ agent: "ann", tools: "*" as const, requires_approval: true }];
  const answers: (boolean | Promise<boolean>)[] = [true, false, new Promise<boolean>(() => {})];
  const kitchen = await scene({
    policy: { mode: "allowlist", rules },
    approve: () => answers.shift() ?? false,
    approvalTimeoutMs: 300,
  });
  const capability = await kitchen.grant();
  expect(await kitchen.ann.call({ capability })).toBe("done");
  await refused(kitchen.ann, { capability }, "approval_refused");
  await refused(kitchen.ann, { capability }, "approval_timeout");
  expect(kitchen.done).toEqual(["heat 180"]);
});

test("[AC-2-2] grant_refused: by a rule, by a human, without a key", async () => {
  const kitchen = await scene({ approve: () => false });
  const ask = async (caller: RawCaller, params: object) =>
    (await caller.request("capabilities/request", { ...params })).error;
  expect(await ask(kitchen.ann, { tools: ["heat"] })).toMatchObject({
    code: -32003,
    data: { reason: "grant_refused" },
  });
  await kitchen.guard.setPolicy({ mode: "denylist", rules: [{ agent: "ann", tools: "*" }] });
  expect(await ask(kitchen.ann, { tools: ["heat"] })).toMatchObject({
    code: -32003,
    data: { reason: "grant_refused" },
  });
  reached.add("grant_refused");
  for (const params of [
    {},
    { tools: [] },
    { tools: ["heat"], duration: -1 },
    { tools: ["heat"], duration: "1 h" },
  ]) {
    expect(await ask(kitchen.ann, params)).toMatchObject({ code: -32602, data: { reason: "bad_params" } });
  }
});

test("[AC-6-3] the guard itself counts requests: 30 a minute", async () => {
  const { ann } = await scene();
  const reasons: string[] = [];
  for (let n = 0; n < 31; n += 1) {
    reasons.push((await ann.request("capabilities/request", { tools: ["heat"] })).error.data.reason);
  }
  expect(new Set(reasons.slice(0, 30))).toEqual(new Set(["grant_refused"]));
  expect(reasons.at(-1)).toBe("rate_limited");
});

test("[AC-8-5] a capability is carried in `_meta` just as well, and no tool sees it in either place", async () => {
  const kitchen = await scene();
  const call = async (place: (carried: JsonObject) => JsonObject) => {
    const capability = await kitchen.grant();
    const id = kitchen.ann.nextId();
    const { proof } = await kitchen.ann.params({ capability }, id);
    const params = { name: "heat", arguments: { degrees: 180 }, ...place({ capability, proof }) };
    return (await kitchen.ann.request("tools/call", params, id)).result;
  };
  expect(await call((carried) => ({ ...carried, _meta: { trace: "a" } }))).toBeDefined();
  expect(await call((carried) => ({ _meta: { ...carried, trace: "b" } }))).toBeDefined();
  // All else arrives, so the look at the calls is a real one.
  const seen = { name: "heat", arguments: { degrees: 180 } };
  expect(kitchen.handedOver).toEqual([
    { ...seen, _meta: { trace: "a" } },
    { ...seen, _meta: { trace: "b" } },
  ]);
});

test("[AC-9-2] what was passed on works for whom it was passed on to, and ends with what it was made from", async () => {
  const kitchen = await scene();
  const bob = await enterRaw(kitchen.server, "bob");
  const mine = await kitchen.grant({ delegations: 1, maxUses: 5 });
  const token = await delegateCapability(kitchen.ann.key, mine, {
    holder: "bob",
    key: bob.key.jwk,
    maxUses: 2,
  });
  expect(await bob.call({ capability: token })).toBe("done");
  expect(await kitchen.ann.call({ capability: token })).toBe("wrong_holder");
  expect(await bob.call({ capability: mine })).toBe("wrong_holder");
  expect(await bob.call({ capability: token })).toBe("done");
  expect(await bob.call({ capability: token })).toBe("uses_exhausted");
  await kitchen.guard.revoke([readCapabilityToken(mine).claims.jti]);
  expect(await bob.call({ capability: token })).toBe("revoked");
});

test("[AC-9-7] only the issuer's notice counts: of the owner, and of who passed it on", async () => {
  const kitchen = await scene();
  const bob = await enterRaw(kitchen.server, "bob");
  const mallory = await enterRaw(kitchen.server, "mallory");
  const mine = await kitchen.grant({ delegations: 1 });
  const token = await delegateCapability(kitchen.ann.key, mine, { holder: "bob", key: bob.key.jwk });
  const ids = [readCapabilityToken(mine).claims.jti, readCapabilityToken(token).claims.jti];
  const notice = { kind: "system", payload: { type: "capability_revoked", ids } };
  await mallory.client.ack(mallory.client.send(notice));
  await bob.client.ack(bob.client.send(notice));
  expect(await bob.call({ capability: token })).toBe("done");
  await kitchen.ann.client.ack(kitchen.ann.client.send(notice));
  // What she passed on is over; what she holds is not hers to take back.
  expect(await bob.call({ capability: token })).toBe("revoked");
  expect(await kitchen.ann.call({ capability: mine })).toBe("done");
});

test("calls that name no tool, or arguments that are none, are refused before anything else", async () => {
  const { ann, grant } = await scene();
  const capability = await grant();
  for (const params of [{ arguments: {} }, { name: 7 }, { name: "heat", arguments: [1] }]) {
    const { error } = await ann.request("tools/call", { ...params, capability });
    expect(error.data.reason).toBe("bad_params");
  }
});

afterAll(() => {
  const all = (Object.keys(errorTable) as Reason[]).filter(isAccessReason);
  expect([...reached].sort(), `every reason of ${topic} was reached`).toEqual(all.sort());
});

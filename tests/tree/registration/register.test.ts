// `mcpax/register` at the whole server, by a registrant that is none of ours.
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startTestServer, type TestServer } from "../../support/test-server.ts";
import { hearing } from "../notifications/support/hearing-client.ts";
import { ask, callTool, type Heard, type Place, textOf } from "../support/ask.ts";
import {
  dangerous,
  type Message,
  type RawOptions,
  type RawRegistrant,
  rawRegistrant,
  registrationOf,
  toolOf,
} from "./support/raw-registrant.ts";

let server: TestServer;
let place: Place;
const open: RawRegistrant[] = [];

beforeAll(async () => {
  server = await startTestServer({
    config: {
      degraded: { grace: 60_000 },
      subservers: {
        lab: { development: true, scope: "write" },
        nobody: { development: true },
        one: { development: true },
        lasting: { development: true },
        again: { development: true },
        auth: { authority: "edge.example.com" },
      },
      budgets: {
        metered: { max_calls_per_minute: 3, max_mutable_calls_per_session: 2 },
        spent: { max_calls_per_minute: 2 },
        shown: { max_calls_per_minute: 5 },
      },
    },
  });
  place = {
    url: `${server.url}/mcp`,
    token: await server.token({ sub: "alice", topics: [], tools: ["**"] }),
  };
});

afterAll(async () => {
  for (const one of open) one.cut();
  await server.stop();
});

async function come(segment: string, options: RawOptions = {}, claims: object = {}): Promise<RawRegistrant> {
  const token = await server.token({
    sub: `of:${segment}`,
    topics: [],
    segment,
    scope: "write",
    ...claims,
  } as never);
  const registrant = await rawRegistrant(server.url, token, { parentId: null, ...options });
  open.push(registrant);
  return registrant;
}

const named = async (prefix: string): Promise<string[]> => {
  const { message } = await ask(place, "tools/list");
  return message.result.tools
    .map(({ name }: Message) => name)
    .filter((name: string) => name.startsWith(prefix));
};
const reasonOf = ({ error }: Message): string | undefined => error?.data?.reason;
const availability = async (name: string): Promise<string | undefined> => {
  const { message } = await ask(place, "tools/list");
  const tool = message.result.tools.find((one: Message) => one.name === name);
  return tool?._meta["x-mcpax-capability"].availability;
};
const faultOf = ({ message }: Heard): Message => message.error;

test("[AX-6.1-1] [AX-6.1-3] [AX-6.2-1] whoever registers is part of the tree, and is called over its own connection", async () => {
  const registrant = await come("edge", { tools: [toolOf("t")] });
  const id = randomUUID();
  const { result } = await registrant.register(
    registrationOf("edge", { subserver_id: id, heartbeat_interval_ms: 5_000 }),
  );
  expect(result).toEqual({
    status: "registered",
    assigned_segment: "edge",
    session_id: expect.any(String),
    heartbeat_interval_ms: 5_000,
    heartbeat_deadline_ms: 15_000,
    lease_ms: 10_000,
    aggregator_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    epoch: 1,
    budget: {},
  });
  await expect.poll(() => named("edge.")).toEqual(["edge.t"]);
  const heard = await callTool(place, "edge.t", { a: 1 });
  expect(JSON.parse(textOf(heard))).toMatchObject({ name: "t", arguments: { a: 1 } });
});

test("[AX-7.2-5] [AX-10.1-1] neither the caller's token nor a trace of the tree reaches a plain subserver", async () => {
  const registrant = await come("plain", { tools: [toolOf("t")] });
  await registrant.register(registrationOf("plain"));
  await expect.poll(() => named("plain.")).toEqual(["plain.t"]);
  await callTool(place, "plain.t", {}, { meta: { "x-mcpax-route": ["a"], "x-mcpax-cursor": 0, kept: 1 } });
  const text = JSON.stringify(registrant.asked);
  expect(text).not.toContain("x-mcpax-");
  expect(text).not.toContain(place.token);
  expect(registrant.asked.at(-1).params._meta.kept).toBe(1);
});

test("[AX-4.2-1] the first has a segment; the next gets namespace_conflict and is shown out", async () => {
  const first = await come("one", { tools: [toolOf("t")] }, { segment: undefined });
  expect((await first.register(registrationOf("one"))).result.status).toBe("registered");
  const token = await server.token({ sub: "somebody", topics: [] });
  const second = await rawRegistrant(server.url, token, { parentId: null });
  const { error } = await second.register(registrationOf("one"));
  expect(error).toMatchObject({ code: 40904, message: expect.stringContaining("namespace_conflict") });
  expect(await second.closed).toEqual({ code: 4403, reason: "namespace_conflict" });
  await expect.poll(() => named("one.")).toEqual(["one.t"]);
});

test("[AX-4.2-2] squatting while its owner is away does not work", async () => {
  const owner = await come("owned", { tools: [toolOf("t")] });
  await owner.register(registrationOf("owned"));
  await expect.poll(() => named("owned.")).toEqual(["owned.t"]);
  owner.cut();
  await expect.poll(() => availability("owned.t")).toBe("degraded");
  const token = await server.token({ sub: "squatter", topics: [] });
  const squatter = await rawRegistrant(server.url, token, { parentId: null });
  expect(reasonOf(await squatter.register(registrationOf("owned")))).toBe("authority_unproven");
  const back = await come("owned", { tools: [toolOf("t")] });
  expect((await back.register(registrationOf("owned"))).result.epoch).toBe(1);
});

test("[AX-4.2-4] the same subserver takes over while its old session lingers; another identity does not", async () => {
  const id = randomUUID();
  const first = await come("again", { tools: [toolOf("t")] });
  const before = await first.register(registrationOf("again", { subserver_id: id }));
  const other = await come("again", {}, { segment: undefined, sub: "other" });
  expect(reasonOf(await other.register(registrationOf("again", { subserver_id: id })))).toBe(
    "namespace_conflict",
  );
  const second = await come("again", { tools: [toolOf("t"), toolOf("u")] });
  const after = await second.register(registrationOf("again", { subserver_id: id }));
  expect(after.result.epoch).toBe(before.result.epoch + 1);
  expect(await first.closed).toEqual({ code: 4409, reason: "it has registered again" });
  await expect.poll(() => named("again.")).toEqual(["again.t", "again.u"]);
});

test("[AX-4.3-1] [AX-10.3-1] a tool with a dot in its name is refused with a reason, the others stay", async () => {
  const registrant = await come("dots", {
    tools: [toolOf("fine"), toolOf("other.fake"), toolOf("dots.fake")],
  });
  await registrant.register(registrationOf("dots"));
  await expect.poll(() => named("dots.")).toEqual(["dots.fine"]);
  const status = await callTool(place, "mcpax.status");
  const mine = status.message.result.structuredContent.servers.find(({ name }: Message) => name === "dots");
  expect(mine.left_out).toContain("other.fake: its name has a dot");
});

test("[AX-10.2-1] [AX-10.2-2] with the scope read nothing that writes is listed or called", async () => {
  const registrant = await come(
    "reads",
    { tools: [toolOf("look"), toolOf("wipe", dangerous)] },
    { scope: undefined },
  );
  await registrant.register(registrationOf("reads"));
  await expect.poll(() => named("reads.")).toEqual(["reads.look"]);
  expect(faultOf(await callTool(place, "reads.wipe")).code).toBe(-32601);
  expect(registrant.asked.some(({ method }) => method === "tools/call")).toBe(false);
});

test("[AX-4.2-3] without proof nobody registers but where the operator says development, and reads there unless it says more", async () => {
  const tools = [toolOf("look"), toolOf("wipe", dangerous)];
  const unproven = await come("nobody", { tools }, { segment: undefined, scope: undefined });
  await unproven.register(registrationOf("nobody"));
  await expect.poll(() => named("nobody.")).toEqual(["nobody.look"]);
  const lab = await come("lab", { tools }, { segment: undefined, scope: undefined });
  await lab.register(registrationOf("lab"));
  await expect.poll(() => named("lab.")).toEqual(["lab.look", "lab.wipe"]);
});

test("[AX-4.2-3] a token for one segment is none for another", async () => {
  const registrant = await come("mine", {}, {});
  expect(reasonOf(await registrant.register(registrationOf("yours")))).toBe("authority_unproven");
});

test("[AX-4.2-5] an authority is proven by a token for this aggregator, once", async () => {
  const first = await come("probe", { tools: [toolOf("t")] });
  const { result } = await first.register(registrationOf("probe"));
  const audience = result.aggregator_id;
  const { token: proof } = await server.identity.mintAuthorityProof({
    name: "edge.example.com",
    audience,
    ttlMs: 60_000,
  });
  const register = async (more: object) => {
    const claims = { segment: undefined };
    const registrant = await come("auth", { tools: [toolOf("t", dangerous)] }, claims);
    return registrant.register(registrationOf("auth", more));
  };
  const authority = "dns:edge.example.com";
  expect(reasonOf(await register({ authority: "dns:edge.example.org", authority_proof: proof }))).toBe(
    "authority_unproven",
  );
  expect((await register({ authority, authority_proof: proof })).result.status).toBe("registered");
  await expect.poll(() => named("auth.")).toEqual(["auth.t"]);
  expect(reasonOf(await register({ authority, authority_proof: proof }))).toBe("authority_unproven");
  // It is for that name, also when that is not there, and for nobody who only claims it.
  expect(reasonOf(await register({ authority }))).toBe("authority_unproven");
});

test("[AX-6.3-3] a heartbeat counts for one's own session only", async () => {
  const registrant = await come("beats");
  const { result } = await registrant.register(registrationOf("beats", { heartbeat_interval_ms: 60_000 }));
  const other = await come("beats2");
  await other.register(registrationOf("beats2"));
  const { session_id } = result;
  expect((await registrant.request("mcpax/heartbeat", { session_id })).result).toEqual({ status: "alive" });
  expect(reasonOf(await other.request("mcpax/heartbeat", { session_id }))).toBe("registration_unknown");
  expect(reasonOf(await other.request("mcpax/deregister", { session_id }))).toBe("registration_unknown");
  expect(reasonOf(await registrant.request("mcpax/heartbeat", {}))).toBe("registration_unknown");
});

test("[AX-6.3-4] [AX-6.3-5] who deregisters is gone at once, and clients are told", async () => {
  const registrant = await come("leaves", { tools: [toolOf("t")] });
  const { result } = await registrant.register(registrationOf("leaves"));
  await expect.poll(() => named("leaves.")).toEqual(["leaves.t"]);
  const { session_id } = result;
  const client = await hearing("v1", place);
  expect((await registrant.request("mcpax/deregister", { session_id })).result).toEqual({
    status: "deregistered",
  });
  expect(await named("leaves.")).toEqual([]);
  await expect.poll(() => client.of("notifications/tools/list_changed")).not.toEqual([]);
  expect(faultOf(await callTool(place, "leaves.t")).code).toBe(-32601);
});

test("[AX-6.3-1] [AX-13.3-2] silence: degraded at the second missed heartbeat, over at the third", async () => {
  const registrant = await come("silent", { tools: [toolOf("t")] });
  const { result } = await registrant.register(registrationOf("silent", { heartbeat_interval_ms: 1_000 }));
  const beat = setInterval(
    () => registrant.request("mcpax/heartbeat", { session_id: result.session_id }),
    100,
  );
  await expect.poll(() => availability("silent.t")).toBe("always");
  clearInterval(beat);
  const silentSince = performance.now();
  let isOver = false;
  void registrant.closed.then(() => {
    isOver = true;
  });
  await expect.poll(() => availability("silent.t"), { interval: 20 }).toBe("degraded");
  // Not before its lease was over: the last beat is at most 100 ms old.
  expect(performance.now() - silentSince).toBeGreaterThan(1_850);
  // And before its session was, which only the third missed one ends.
  expect(isOver).toBe(false);
  expect(faultOf(await callTool(place, "silent.t"))).toMatchObject({
    code: -32002,
    message: "tool_degraded",
    data: { reason: "subserver_unreachable", since: expect.any(String), retry_after_ms: expect.any(Number) },
  });
  expect(await registrant.closed).toMatchObject({ code: 4500 });
  expect(await named("silent.")).toEqual(["silent.t"]);
});

test("[AX-6.3-2] with no heartbeats only the connection's loss counts", async () => {
  const registrant = await come("calm", { tools: [toolOf("t")] });
  const { result } = await registrant.register(registrationOf("calm", { heartbeat_interval_ms: 0 }));
  expect(result).toMatchObject({ heartbeat_deadline_ms: 0, heartbeat_interval_ms: 0 });
  await expect.poll(() => availability("calm.t")).toBe("always");
  registrant.cut();
  await expect.poll(() => availability("calm.t")).toBe("degraded");
});

test("[AX-13.1-1] [AX-13.1-2] who comes back is listed afresh", async () => {
  const id = randomUUID();
  const first = await come("phoenix", { tools: [toolOf("old")] });
  await first.register(registrationOf("phoenix", { subserver_id: id }));
  await expect.poll(() => named("phoenix.")).toEqual(["phoenix.old"]);
  first.cut();
  await expect.poll(() => availability("phoenix.old")).toBe("degraded");
  const second = await come("phoenix", { tools: [toolOf("new")] });
  await second.register(registrationOf("phoenix", { subserver_id: id }));
  await expect.poll(() => named("phoenix.")).toEqual(["phoenix.new"]);
});

test("[AX-13.4-1] [AX-13.4-2] who says it has another parent is refused; who does not say is taken, and that is recorded", async () => {
  const elsewhere = await come("twice", { parentId: randomUUID() });
  expect(reasonOf(await elsewhere.register(registrationOf("twice")))).toBe("duplicate_subserver");
  const quiet = await come("twice", { parentId: undefined });
  expect((await quiet.register(registrationOf("twice"))).result.status).toBe("registered");
  const audit = await server.call("GET", "/admin/audit?limit=1000", await server.adminToken());
  expect(JSON.stringify(audit.body)).toContain("parent_unknown");
});

test("[AX-13.4-1] one subserver id has one place", async () => {
  const id = randomUUID();
  const first = await come("place-a");
  await first.register(registrationOf("place-a", { subserver_id: id }));
  const second = await come("place-b");
  expect(reasonOf(await second.register(registrationOf("place-b", { subserver_id: id })))).toBe(
    "duplicate_subserver",
  );
});

test("[AX-13.4-1] of five that come at once with one subserver id, to five segments, one gets a place", async () => {
  const five = await Promise.all(["race-a", "race-b", "race-c", "race-d", "race-e"].map(comeSilent));
  const all = async (idOf: () => string) => {
    const answers = await Promise.all(
      five.map(({ segment, registrant }) =>
        registrant.register(registrationOf(segment, { subserver_id: idOf() })),
      ),
    );
    for (const [i, { result }] of answers.entries()) {
      if (result?.session_id !== undefined) sessions.set(five[i]?.registrant, result.session_id);
    }
    return answers.map((answer) => answer.result?.status ?? reasonOf(answer)).sort();
  };
  const sessions = new Map<RawRegistrant | undefined, string>();
  const id = randomUUID();
  expect(await all(() => id)).toEqual([...Array(4).fill("duplicate_subserver"), "registered"]);
  // Control: with an id of its own each gets one; the one that was refused first has left nothing behind.
  for (const { registrant } of five.splice(0)) {
    const session_id = sessions.get(registrant);
    if (session_id === undefined) registrant.cut();
    else await registrant.request("mcpax/deregister", { session_id });
  }
  five.push(...(await Promise.all(["race-f", "race-g", "race-h", "race-i", "race-j"].map(comeSilent))));
  expect(await all(randomUUID)).toEqual(Array(5).fill("registered"));
  const { registrant } = await comeSilent("race-k");
  const again = await registrant.register(registrationOf("race-k", { subserver_id: id }));
  expect(again.result?.status).toBe("registered");
});

test("[AX-13.4-1] [B-REG-1] while one is away nobody else takes its subserver id, wherever it registers", async () => {
  const id = randomUUID();
  const owner = await come("away");
  await owner.register(registrationOf("away", { subserver_id: id }));
  owner.cut();
  const thief = await come("thief");
  expect(reasonOf(await thief.register(registrationOf("thief", { subserver_id: id })))).toBe(
    "duplicate_subserver",
  );
  const back = await come("away");
  const answer = await back.register(registrationOf("away", { subserver_id: id }));
  expect(answer.result?.status).toBe("registered");
  // Control: its owner may bring it elsewhere, and with an id of its own the other is taken.
  await back.request("mcpax/deregister", { session_id: answer.result?.session_id });
  const other = await come("thief");
  expect((await other.register(registrationOf("thief", { subserver_id: id }))).result?.status).toBe(
    "registered",
  );
});

/** It does not say whose it is, so that for a second its registration is under way. */
async function comeSilent(segment: string): Promise<{ segment: string; registrant: RawRegistrant }> {
  return { segment, registrant: await come(segment, { parentId: undefined }) };
}

test("[AX-11.4-3] a new subserver id of the same proven owner does not begin a new budget", async () => {
  const tools = [toolOf("look")];
  const first = await come("spent", { tools });
  const { result } = await first.register(registrationOf("spent"));
  await expect.poll(() => named("spent.")).toHaveLength(1);
  expect((await callTool(place, "spent.look")).message.result).toBeDefined();
  await first.request("mcpax/deregister", { session_id: result.session_id });
  const second = await come("spent", { tools });
  await second.register(registrationOf("spent"));
  await expect.poll(() => named("spent.")).toHaveLength(1);
  // Control: what is left of it can be used.
  expect((await callTool(place, "spent.look")).message.result).toBeDefined();
  second.cut();
  await expect.poll(() => availability("spent.look")).toBe("degraded");
  const third = await come("spent", { tools });
  await third.register(registrationOf("spent"));
  await expect.poll(() => availability("spent.look")).toBe("always");
  expect(faultOf(await callTool(place, "spent.look"))).toMatchObject({ code: -32003, data: { used: 2 } });
});

test("[AX-11.4-1] [AX-11.4-3] a budget is told, charged exactly, and coming again resets nothing", async () => {
  const id = randomUUID();
  const tools = [toolOf("look"), toolOf("wipe", dangerous)];
  const first = await come("metered", { tools });
  const { result } = await first.register(registrationOf("metered", { subserver_id: id }));
  expect(result.budget).toEqual({ max_calls_per_minute: 3, max_mutable_calls_per_session: 2 });
  await expect.poll(() => named("metered.")).toHaveLength(2);
  const raced = await Promise.all(Array.from({ length: 10 }, () => callTool(place, "metered.wipe")));
  expect(raced.filter(({ message }) => message.result !== undefined)).toHaveLength(2);
  expect(faultOf(raced.find(({ message }) => message.error) as Heard)).toMatchObject({
    code: -32003,
    message: "budget_exceeded",
    data: { reason: "budget_exceeded", budget: "max_mutable_calls_per_session" },
  });
  const second = await come("metered", { tools });
  await second.register(registrationOf("metered", { subserver_id: id }));
  await expect.poll(() => named("metered.")).toHaveLength(2);
  expect(faultOf(await callTool(place, "metered.wipe")).code).toBe(-32003);
  expect((await callTool(place, "metered.look")).message.result).toMatchObject({
    content: expect.any(Array),
  });
  expect(faultOf(await callTool(place, "metered.look")).data.budget).toBe("max_calls_per_minute");
});

test("[AX-5.3-2] an aggregator that stands above is refused; 40 000 forged ids are refused at once", async () => {
  const first = await come("ids");
  const { result } = await first.register(registrationOf("ids"));
  const own = result.aggregator_id;
  const circle = await come("circle");
  const ids = { "x-mcpax-subtree-ids": [randomUUID(), own] };
  expect(reasonOf(await circle.register(registrationOf("circle", ids)))).toBe("registration_cycle");
  const many = await come("circle");
  const forged = Array.from({ length: 40_000 }, () => "00000000-0000-4000-8000-000000000000");
  expect(reasonOf(await many.register(registrationOf("circle", { "x-mcpax-subtree-ids": forged })))).toBe(
    "bad_params",
  );
  const later = await come("circle");
  const registered = await later.register(
    registrationOf("circle", { "x-mcpax-subtree-ids": [randomUUID()] }),
  );
  const { session_id } = registered.result;
  expect(reasonOf(await later.request("mcpax/update", { session_id, ...ids }))).toBe("registration_cycle");
});

test("[AX-6.1-2] what is wrong with a registration is said by its field", async () => {
  const wrong: [string, object][] = [
    ["subserver_id", { subserver_id: "me" }],
    ["segment", { segment: "Edge" }],
    ["segment", { segment: "a.b" }],
    ["capabilities", { capabilities: "all" }],
    ["capabilities.tools", { capabilities: { tools: "yes" } }],
    ["heartbeat_interval_ms", { heartbeat_interval_ms: -1 }],
    ["transport_class", { transport_class: "pigeon" }],
    ["version", { version: "1999-01-01" }],
    ["authority", { authority: "edge.example.com" }],
  ];
  for (const [field, more] of wrong) {
    const registrant = await come("fields");
    const { error } = await registrant.register(registrationOf("fields", more));
    expect(error).toMatchObject({
      code: -32602,
      data: { detail: expect.stringContaining(`params.${field} `) },
    });
  }
});

test("[AX-6.1-2] what a subserver declares not to have is never asked for", async () => {
  const registrant = await come("quiet", {
    tools: [toolOf("t")],
    capabilities: { tools: {}, resources: {}, prompts: {} },
  });
  await registrant.register(registrationOf("quiet"));
  await expect.poll(() => named("quiet.")).toEqual(["quiet.t"]);
  await ask(place, "resources/list");
  await ask(place, "prompts/list");
  expect(registrant.asked.map(({ method }) => method)).not.toContain("prompts/list");
  expect(registrant.asked.map(({ method }) => method)).not.toContain("resources/list");
});

test("[AX-10.1-1] nobody registers without a token, nor with one that has ended or was revoked", async () => {
  await expect(rawRegistrant(server.url, undefined)).rejects.toThrow("401");
  await expect(rawRegistrant(server.url, "nonsense")).rejects.toThrow("401");
  const { token, jti } = await server.identity.tokens.mint(
    { sub: "gone", topics: [], segment: "gone" } as never,
    { ttlMs: 60_000 },
  );
  const registrant = await rawRegistrant(server.url, token, { parentId: null, tools: [toolOf("t")] });
  await registrant.register(registrationOf("gone"));
  await expect.poll(() => named("gone.")).toEqual(["gone.t"]);
  await server.call("DELETE", `/admin/tokens/${jti}`, await server.adminToken());
  expect(await registrant.closed).toEqual({ code: 4401, reason: "token_revoked" });
  await expect.poll(() => availability("gone.t")).toBe("degraded");
});

test("[AX-13.2-2] mcpax.status shows how a subserver registered, what it has used, and since when it is lost", async () => {
  const id = randomUUID();
  const registrant = await come("shown", { tools: [toolOf("t")] });
  const { result } = await registrant.register(
    registrationOf("shown", { subserver_id: id, heartbeat_interval_ms: 60_000 }),
  );
  const status = async () => {
    const { message } = await callTool(place, "mcpax.status");
    return message.result.structuredContent.servers.find(({ name }: Message) => name === "shown");
  };
  await expect.poll(() => named("shown.")).toEqual(["shown.t"]);
  await callTool(place, "shown.t");
  const up = await status();
  expect(up).toMatchObject({
    state: "up",
    registered: true,
    subserver_id: id,
    session: result.session_id.slice(0, 8),
    epoch: 1,
    heartbeat: { interval_ms: 60_000 },
    scope: "write",
    proven: true,
    authority: null,
    aggregator: false,
    budget: { max_calls_per_minute: { limit: 5, used: 1 } },
    latency: { calls: 1 },
  });
  expect(up.heartbeat.last_ms_ago).toBeGreaterThanOrEqual(0);
  expect(up.latency.p50_ms).toBe(up.latency.p95_ms);
  expect(up).not.toHaveProperty("degraded");
  expect(JSON.stringify(up)).not.toContain(result.session_id);
  registrant.cut();
  await expect.poll(async () => (await status()).state).toBe("degraded");
  const { degraded } = await status();
  expect(degraded.reason).toContain("1006");
  // The grace of this server, give or take the way here.
  const graceMs = Date.parse(degraded.until) - Date.parse(degraded.since);
  expect(Math.abs(graceMs - 60_000)).toBeLessThan(1_000);
});

test("[AX-4.2-2] a claim outlives a restart of the aggregator", async () => {
  const registrant = await come("lasting", { tools: [toolOf("t")] });
  await registrant.register(registrationOf("lasting"));
  await server.restart();
  const token = await server.token({ sub: "squatter", topics: [] });
  const squatter = await rawRegistrant(server.url, token, { parentId: null });
  expect(reasonOf(await squatter.register(registrationOf("lasting")))).toBe("namespace_conflict");
});

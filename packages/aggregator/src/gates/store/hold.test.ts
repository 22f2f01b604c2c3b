// A result that is held, in a whole tree: nobody sees it before it was released, and then exactly it.
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { type Audit, type AuditEvent, createLogger, createManualClock, type ManualClock } from "@mcpx/host";
import {
  type Decision,
  type GateTerms,
  isObject,
  type JsonObject,
  McpxError,
  parseExact,
  statementOf,
} from "@mcpx/protocol";
import { SignJWT } from "jose";
import { expect, onTestFinished, test } from "vitest";
import {
  type InProcessServer,
  inProcessServer,
  type Script,
  serverOptions,
} from "../../testing/in-process-server.ts";
import { openBelow } from "../../testing/nested.ts";
import { openTreeState } from "../../testing/open-tree-state.ts";
import { callerOf, type TestTree, testTree } from "../../testing/test-tree.ts";
import { createGatekeeper, type Gatekeeper, type GateOptions } from "../gatekeeper.ts";
import { addGrant } from "../grants/grants.ts";
import { keepGates } from "../keep-gates.ts";
import { anchorKeys } from "../proofs/anchors.ts";
import type { Rule } from "../rules.ts";
import { createSqliteGateStore } from "./gate-store-sqlite.ts";

const pairs = { anna: generateKeyPairSync("ed25519"), ben: generateKeyPairSync("ed25519") };
const secret = "the salary is 9007199254740993";
const answer = { content: [{ type: "text", text: secret }], structuredContent: { salary: 1 } };
const tools = [{ name: "read", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } }];

interface Scene extends TestTree {
  server: InProcessServer;
  gates: Gatekeeper;
  gateClock: ManualClock;
  events: AuditEvent[];
}

function scene(
  rule: Partial<Rule> = {},
  options: Partial<GateOptions> = {},
  script: Partial<Script> = {},
): Scene {
  const server = inProcessServer({
    tools,
    handle: ({ method }) => (method === "tools/call" ? answer : (undefined as never)),
    ...script,
  });
  const gateClock = createManualClock();
  const gates = createGatekeeper({
    aggregatorId: "a1",
    store: createSqliteGateStore({ db: openTreeState(), clock: gateClock }),
    rules: [{ tools: "s.read", action: "allow", holdResult: true, ...rule }],
    unannotated: "allow",
    anchors: anchorKeys(
      Object.entries(pairs).map(([name, { publicKey }]) => ({
        kind: "key",
        name,
        jwk: publicKey.export({ format: "jwk" }),
      })),
    ),
    holdMs: 50,
    holdWithProgressMs: 50,
    approveUrl: (gate) => `http://127.0.0.1/approve/${gate}`,
    ...options,
  });
  const events: AuditEvent[] = [];
  const tree = testTree([serverOptions("s", server.open, { isTrusted: true })], {
    gates,
    audit: auditInto(events),
    segment: "b",
    hasParents: true,
  });
  return { ...tree, server, gates, gateClock, events };
}

function auditInto(events: AuditEvent[]): Audit {
  const record = (event: AuditEvent) => void events.push(event);
  const recordNow = async (event: AuditEvent) => {
    events.push(event);
    return true;
  };
  const verify = async () => ({ ok: true, records: 0, head: "" }) as const;
  const page = async () => ({ rows: [], head: { seq: 0, hash: "" } });
  const flush = async () => true;
  return { record, recordNow, flush, list: async () => [], page, verify, close: async () => {} };
}

const called = ({ server }: Scene) => server.asked.filter(({ method }) => method === "tools/call").length;
const read = ({ ask }: Scene) => ask("tools/call", { name: "s.read", arguments: { of: "ben" } });
const wait = ({ ask }: Scene, confirmation_id: string) =>
  ask("tools/call", { name: "mcpax.wait", arguments: { confirmation_id, timeout_ms: 50 } });
const gateActions = ({ events }: Scene) =>
  events.filter(({ action }) => action.startsWith("gate.")).map(({ action, actor }) => `${action} ${actor}`);

type Ticket = JsonObject & GateTerms & { status: string };

/** What a caller was told instead of a result, which has nothing of it. */
function ticketOf(told: JsonObject): Ticket {
  expect(told.isError).toBe((told.structuredContent as Ticket).status === "withheld" ? true : undefined);
  expect(JSON.stringify(told)).not.toContain("salary");
  expect(isObject(told.structuredContent)).toBe(true);
  return told.structuredContent as Ticket;
}

const proofFor = (
  terms: GateTerms,
  decision: Decision,
  key: KeyObject = pairs.anna.privateKey,
  reason?: string,
) =>
  new SignJWT({ ...statementOf(terms, decision, reason) })
    .setProtectedHeader({ alg: "EdDSA", typ: "mcpx-proof+jwt" })
    .sign(key);

async function confirm({ ask }: Scene, terms: Ticket, ...proof: [Decision, KeyObject?, string?]) {
  const { confirmation_id } = terms;
  const params = { confirmation_id, proof: await proofFor(terms, ...proof) };
  return ask("mcpax/confirm", params, { principal: { id: "boss" } });
}

test("an allowed call runs at once, and its caller gets exactly its result once that was released", async () => {
  const tree = scene();
  const ticket = ticketOf(await read(tree));
  expect(called(tree)).toBe(1);
  expect(ticket).toMatchObject({ status: "confirmation_required", phase: "result" });
  expect(ticket.result_digest).toMatch(/^sha256:[\w-]{43}$/);
  // Neither asking again nor waiting nor another session of the same principal gets more, or makes it twice.
  expect(ticketOf(await read(tree)).confirmation_id).toBe(ticket.confirmation_id);
  ticketOf(await wait(tree, ticket.confirmation_id));
  const elsewhere = { caller: { key: "session:2" } };
  ticketOf(await tree.ask("tools/call", { name: "s.read", arguments: { of: "ben" } }, elsewhere));
  expect(called(tree)).toBe(1);
  expect(await confirm(tree, ticket, "approve")).toMatchObject(answer);
  expect(await wait(tree, ticket.confirmation_id)).toMatchObject(answer);
  expect(called(tree)).toBe(1);
  expect(gateActions(tree)).toEqual(["gate.held agent", "gate.release anna"]);
  const result = ticket.result_digest;
  const detail = { gate: ticket.confirmation_id, digest: ticket.arguments_digest, result };
  const [, release] = tree.events.filter(({ action }) => action.startsWith("gate."));
  expect(release).toMatchObject({ subject: "s.read", detail });
  expect(release?.detail).toHaveProperty("proof");
  expect(JSON.stringify(tree.events)).not.toContain("salary");
});

test("[AX-11.3-1] who waits for a decision is held longer than a call is, and as long as it asks for", async () => {
  const tree = scene({}, { holdMs: 1, holdWithProgressMs: 1 });
  const { confirmation_id } = ticketOf(await read(tree));
  const ticket = ticketOf(await wait(tree, confirmation_id));
  const waiting = tree.ask("tools/call", { name: "mcpax.wait", arguments: { confirmation_id } });
  // A call that joins has been held to its end.
  ticketOf(await read(tree));
  await confirm(tree, ticket, "approve");
  expect(await waiting).toMatchObject(answer);
  for (const timeout_ms of [-1, 1.5, "5s"]) {
    const args = { confirmation_id, timeout_ms };
    await expect(tree.ask("tools/call", { name: "mcpax.wait", arguments: args })).rejects.toMatchObject({
      code: "bad_params",
    });
  }
});

test("numbers of a held result reach its caller as the server wrote them", async () => {
  const text = '{"content":[],"structuredContent":{"exact":9007199254740993,"one":1.0,"e":1e400}}';
  const exact = parseExact(text) as JsonObject;
  const handle: Script["handle"] = ({ method }) => (method === "tools/call" ? exact : (undefined as never));
  const tree = scene({}, {}, { handle });
  const ticket = ticketOf(await read(tree));
  await confirm(tree, ticket, "approve");
  const { resultType: _, ...told } = await read(tree);
  expect(JSON.stringify(told)).toBe(text);
});

test("the control: without the rule's word the result comes at once", async () => {
  const tree = scene({ holdResult: false });
  expect(await read(tree)).toMatchObject(answer);
});

test("withheld: its caller hears that it has happened, and why, and never the result", async () => {
  const tree = scene();
  const ticket = ticketOf(await read(tree));
  await confirm(tree, ticket, "reject", pairs.anna.privateKey, "not for agents");
  const told = await wait(tree, ticket.confirmation_id);
  expect(told.content).toEqual([
    { type: "text", text: "The call was made; its result was withheld: not for agents" },
  ]);
  expect(ticketOf(told)).toMatchObject({ status: "withheld", reason: "not for agents" });
  expect((await tree.gates.store.find(ticket.confirmation_id))?.resultText).toBeUndefined();
  expect(gateActions(tree)).toEqual(["gate.held agent", "gate.withhold anna"]);
});

test("nobody looks at it: it is withheld for good, which is recorded once", async () => {
  const tree = scene();
  const log = createLogger({ level: "silent" });
  const ticket = ticketOf(await read(tree));
  tree.gateClock.advance(300_000);
  const told = await wait(tree, ticket.confirmation_id);
  expect(told.content).toMatchObject([{ text: expect.stringMatching(/^The call was made; .* in time$/) }]);
  await expect(confirm(tree, ticket, "approve")).rejects.toMatchObject({ code: "confirmation_used" });
  const stop = await keepGates(tree.gates, { audit: auditInto(tree.events), log, mayRecover: true });
  onTestFinished(stop);
  await expect.poll(() => gateActions(tree).includes("gate.withheld agent")).toBe(true);
  expect(gateActions(tree).filter((action) => action !== "gate.proof anna")).toEqual([
    "gate.held agent",
    "gate.withheld agent",
  ]);
});

test("[AX-11.3-2] what lets a call go releases no result, and what would release one lets no call go", async () => {
  const tree = scene({ action: "ask" });
  const asked = ticketOf(await read(tree));
  expect(called(tree)).toBe(0);
  expect(asked).not.toHaveProperty("phase");
  const forged = { ...asked, phase: "result", result_digest: `sha256:${"A".repeat(43)}` } as Ticket;
  await expect(confirm(tree, forged, "approve")).rejects.toMatchObject({ code: "bad_proof" });
  const { confirmation_id } = asked;
  const proof = await proofFor(asked, "approve");
  const other = await proofFor(asked, "approve", pairs.ben.privateKey);
  const boss = { principal: { id: "boss" } };
  expect(await tree.ask("mcpax/confirm", { confirmation_id, proof }, boss)).toMatchObject({
    structuredContent: { status: "held", approvals: 0 },
  });
  expect(called(tree)).toBe(1);
  const held = ticketOf(await wait(tree, confirmation_id));
  const wrong = [proof, other, await proofFor({ ...held, result_digest: forged.result_digest }, "approve")];
  for (const one of wrong) {
    const again = tree.ask("mcpax/confirm", { confirmation_id, proof: one }, boss);
    await expect(again).rejects.toMatchObject({ code: "bad_proof" });
  }
  ticketOf(await wait(tree, confirmation_id));
  expect(await confirm(tree, held, "approve")).toMatchObject(answer);
  expect(gateActions(tree).filter((action) => !action.startsWith("gate.proof"))).toEqual([
    "gate.approve anna",
    "gate.held agent",
    "gate.release anna",
  ]);
});

test("where two must release it, one is not enough, and nobody counts twice", async () => {
  const tree = scene({ approvers: 2 });
  const ticket = ticketOf(await read(tree));
  expect(await confirm(tree, ticket, "approve")).toMatchObject({
    structuredContent: { status: "held", approvals: 1, approvers: 2 },
  });
  await expect(confirm(tree, ticket, "approve")).rejects.toMatchObject({ code: "confirmation_used" });
  ticketOf(await wait(tree, ticket.confirmation_id));
  expect(await confirm(tree, ticket, "approve", pairs.ben.privateKey)).toMatchObject(answer);
  expect(gateActions(tree).filter((action) => action.includes("release"))).toEqual([
    "gate.release anna",
    "gate.release ben",
  ]);
});

test("errors of the tool are held as results are", async () => {
  const handle: Script["handle"] = ({ method }) => {
    if (method === "tools/call") throw new Error("salary");
    return undefined as never;
  };
  const tree = scene({}, {}, { handle });
  const ticket = ticketOf(await read(tree));
  await expect(confirm(tree, ticket, "approve")).rejects.toThrow();
  expect(await tree.gates.store.find(ticket.confirmation_id)).toMatchObject({ status: "failed" });
  await expect(wait(tree, ticket.confirmation_id)).rejects.toThrow();
});

test("a result that only promises another cannot be looked at: withheld", async () => {
  for (const promise of [{ task: { taskId: "t" } }, { resultType: "task", taskId: "t" }]) {
    const handle: Script["handle"] = ({ method }) =>
      method === "tools/call" ? promise : (undefined as never);
    const told = await read(scene({}, {}, { handle }));
    expect(told.content).toMatchObject([
      { text: expect.stringContaining("withheld: its server gave a task") },
    ]);
  }
});

test("[AX-11.3-3] the gate of a tree below is no way around the hold above it", async () => {
  const bottom = scene({ action: "ask", holdResult: false });
  const { gates } = scene({ tools: "b.**" }, { holdMs: 2_000 });
  const open = openBelow(bottom.tree, callerOf().principal);
  const top = testTree([serverOptions("b", open, { isTrusted: true })], { gates });
  const told = await top.ask("tools/call", { name: "b.s.read", arguments: {} });
  expect(told).toMatchObject({ structuredContent: { status: "withheld" } });
});

test("a grant lets the call go and not its result; asking again uses nothing up", async () => {
  const tree = scene({ action: "ask" });
  const grant = { id: "g", principal: "agent", tools: "**", usesLeft: 1, grantedBy: "anna", reason: "" };
  addGrant(tree.gates.grants, grant, 0);
  const ticket = ticketOf(await read(tree));
  expect(called(tree)).toBe(1);
  ticketOf(await read(tree));
  expect(await confirm(tree, ticket, "approve")).toMatchObject(answer);
  expect(await read(tree)).toMatchObject(answer);
  expect(gateActions(tree)).toEqual(["gate.granted agent", "gate.held agent", "gate.release anna"]);
  // It is used up: the next call waits before it happens.
  expect(ticketOf(await read(tree))).not.toHaveProperty("phase");
  expect(called(tree)).toBe(1);
});

test("in panic the call itself waits too, and its result is held still", async () => {
  const tree = scene();
  tree.gates.isPanic = true;
  const asked = ticketOf(await read(tree));
  expect(called(tree)).toBe(0);
  await confirm(tree, asked, "approve");
  expect(ticketOf(await wait(tree, asked.confirmation_id))).toMatchObject({ phase: "result" });
});

test("a client that opens addresses is shown it once there is something to look at", async () => {
  const tree = scene();
  const shown: unknown[] = [];
  const told = await tree.ask(
    "tools/call",
    { name: "s.read", arguments: {} },
    {
      caller: { capabilities: { elicitation: { url: {} } } },
      answer: (questions) => {
        shown.push(...Object.values(questions).map(({ params }) => params?.message));
        return { approval: { action: "accept" } };
      },
    },
  );
  expect(shown).toEqual(["The result of s.read waits for a human to look at it"]);
  ticketOf(told);
});

test("whoever is kept waiting gets the result as soon as it was released, and progress only rises", async () => {
  const tree = scene({ action: "ask" }, { holdMs: 30_000, holdWithProgressMs: 30_000 });
  const changed: string[] = [];
  tree.gates.watchers.add({
    opened: ({ id }) => void changed.push(id),
    changed: ({ status }) => void changed.push(status),
  });
  const notified: [string, JsonObject][] = [];
  const call = tree.ask("tools/call", { name: "s.read", arguments: {} }, { wantsProgress: true, notified });
  await expect.poll(() => changed.length).toBe(1);
  const find = async () => ticketFrom(await tree.gates.store.find(changed[0] ?? ""));
  await confirm(tree, await find(), "approve");
  await expect.poll(() => changed).toContain("held");
  await confirm(tree, await find(), "approve");
  expect(await call).toMatchObject(answer);
  const steps = notified.map(([, { progress }]) => Number(progress));
  expect(steps).toEqual([...steps].sort((a, b) => a - b));
});

async function ticketFrom(gate: Awaited<ReturnType<Gatekeeper["store"]["find"]>>): Promise<Ticket> {
  const { termsOf } = await import("./gate-store.ts");
  return { ...termsOf(gate as NonNullable<typeof gate>, "a1"), status: "" };
}

test("a decision that cannot be recorded comes to nothing", async () => {
  const tree = scene({ action: "ask" });
  const asked = ticketOf(await read(tree));
  const { audit } = tree.tree.state;
  const failing = { ...(audit as Audit), recordNow: () => false };
  Object.assign(tree.tree.state, { audit: failing });
  await expect(confirm(tree, asked, "approve")).rejects.toMatchObject({ code: "storage_failed" });
  expect(called(tree)).toBe(0);
  // It does not stand there as approved until it expires: its asker hears why nothing came of it.
  expect(await tree.gates.store.find(asked.confirmation_id)).toMatchObject({
    status: "refused",
    refusal: "storage_failed",
  });
});

test("[B-AUDIT-1] each decision and each end of a call leaves one record, and what did not count another", async () => {
  const tree = scene({ action: "ask", holdResult: false, approvers: 2 });
  const asked = ticketOf(await read(tree));
  await confirm(tree, asked, "approve");
  await expect(confirm(tree, asked, "approve")).rejects.toMatchObject({ code: "confirmation_used" });
  await confirm(tree, asked, "approve", pairs.ben.privateKey);
  expect(gateActions(tree)).toEqual([
    "gate.approve anna",
    "gate.proof anna",
    "gate.approve ben",
    "gate.done agent",
  ]);
  const { confirmation_id, arguments_digest, asker, server } = asked;
  const about = { gate: confirmation_id, digest: arguments_digest, asker, server };
  const decided = tree.events.filter(({ action }) => action === "gate.approve");
  for (const { subject, detail } of decided) {
    expect(subject).toBe("s.read");
    expect(detail).toEqual({ ...about, proof: expect.any(String), key: expect.any(String) });
  }
  const other = scene({ action: "ask", holdResult: false });
  await confirm(other, ticketOf(await read(other)), "reject");
  expect(gateActions(other)).toEqual(["gate.reject anna"]);
});

test("[B-AUDIT-1] a call of which nobody knows whether it has happened is recorded as that", async () => {
  const handle: Script["handle"] = ({ method }) => {
    if (method === "tools/call") throw new McpxError("server_lost", "gone");
    return undefined as never;
  };
  const tree = scene({}, {}, { handle });
  const told = await read(tree);
  expect(told).toMatchObject({ structuredContent: { status: "indeterminate" } });
  expect(gateActions(tree)).toEqual(["gate.indeterminate agent"]);
});

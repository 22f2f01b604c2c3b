// Results that are held: a real client calls, an approver looks and decides, and the client gets exactly what was
// looked at, or never anything. Whatever the agent tries meanwhile shows nothing of it.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { GateTerms } from "@mcpx/protocol";
import { expect, test } from "vitest";
import { mintTokens } from "../faults/support/tokens.ts";
import { ask, callTool, type Heard, openSession } from "../tree/support/ask.ts";
import { kinds, type SdkCaller } from "../tree/support/sdk-callers.ts";
import { type ReviewDesk, startArchive } from "./support/review-desk.ts";

const slow = { timeout: 120_000 };
const polled = { timeout: 60_000 };
const text = "<b>the-secret is</b>\n12345.0\u001b[2J";
const heldText = /^archive\.\w+ was called, and has ended\. Its result is held back/;

/** Asks until the call has ended, which joins; then it is held. */
async function callHeld(
  { call }: SdkCaller,
  name: string,
  args: Record<string, unknown> = {},
): Promise<void> {
  await expect.poll(() => call(name, args), polled).toMatch(heldText);
}

async function onlyHeld(desk: ReviewDesk): Promise<string> {
  const held = await desk.gates("held");
  expect(held).toHaveLength(1);
  return held[0]?.id ?? "";
}

test.for(kinds)("%s calls, alice looks and releases, and the client gets exactly it", slow, async (kind) => {
  const desk = await startArchive();
  const agent = await desk.agent("agent", kind);
  // The control: what no rule holds comes at once.
  expect(await agent.call("archive.plain")).toBe(text);
  await callHeld(agent, "archive.salary", { of: "ben" });
  expect(desk.traces()).toEqual(["plain {}", 'salary {"of":"ben"}']);
  const id = await onlyHeld(desk);
  const result = { content: [{ type: "text", text }], structuredContent: { note: "the-secret", n: 1 } };
  expect((await desk.gate(id)).outcome).toMatchObject({ result });
  expect(await desk.decide(id, "alice")).toMatchObject({ status: "done" });
  expect(await agent.call("archive.salary", { of: "ben" })).toBe(text);
  expect(desk.traces()).toHaveLength(2);
  expect(desk.actions(id)).toEqual(["gate.held agent", "gate.release alice"]);
  await agent.close();
});

test("at the terminal: the card has the whole result, and the same commands decide", slow, async () => {
  const desk = await startArchive();
  const agent = await desk.agent("agent");
  await callHeld(agent, "archive.salary", { of: "ben" });
  const id = await onlyHeld(desk);
  const { out: card } = await desk.run("pending");
  expect(card).toContain("│ agent has called it; rule 2 asks for it");
  expect(card).toContain("│   <b>the-secret is</b>\n│   12345.0\\u001b[2J\n");
  expect(card).toContain('"structuredContent":{"note":"the-secret","n":1}');
  const key = ["--key", desk.keyFile];
  expect(await desk.run("approve", id, ...key)).toMatchObject({
    code: 1,
    err: "mcpx: nothing was approved: there is no terminal to ask for confirmation; run it in a terminal",
  });
  expect(await desk.run("approve", id, "--yes", ...key)).toMatchObject({
    code: 0,
    out: expect.stringContaining("archive.salary: done, and its result was released"),
  });
  expect(await agent.call("archive.salary", { of: "ben" })).toBe(text);
  await callHeld(agent, "archive.salary");
  const { out } = await desk.run("reject", await onlyHeld(desk), "--reason", "not for agents", ...key);
  expect(out).toBe("archive.salary: the call was made; its result was withheld by alice: not for agents");
});

test("withheld: the agent hears that it has happened and why, and nothing of it is kept", slow, async () => {
  const desk = await startArchive();
  const agent = await desk.agent("agent");
  await callHeld(agent, "archive.salary");
  const id = await onlyHeld(desk);
  expect(await desk.decide(id, "alice", "reject", "not for agents")).toMatchObject({ status: "withheld" });
  expect(await agent.call("mcpax.wait", { confirmation_id: id })).toBe(
    "The call was made; its result was withheld: not for agents",
  );
  expect(await desk.gate(id)).not.toHaveProperty("outcome");
  expect(await desk.decide(id, "bob")).toMatchObject({ error: { reason: "confirmation_used" } });
  expect(desk.actions(id)).toEqual(["gate.held agent", "gate.withhold alice"]);
});

test("nobody looks: withheld for good, and said so", slow, async () => {
  const desk = await startArchive({}, { timeout: "5s" });
  const agent = await desk.agent("agent");
  await callHeld(agent, "archive.salary");
  const id = await onlyHeld(desk);
  await expect
    .poll(() => agent.call("mcpax.wait", { confirmation_id: id }), polled)
    .toBe("The call was made; its result was withheld: nobody has released it in time");
  expect(await desk.decide(id, "alice")).toHaveProperty("error");
  await expect.poll(() => desk.actions(id), polled).toEqual(["gate.held agent", "gate.withheld agent"]);
});

test("killed before anybody has looked: the result is there after the restart, and held", slow, async () => {
  const desk = await startArchive();
  await callHeld(await desk.agent("agent"), "archive.salary");
  const id = await onlyHeld(desk);
  await desk.end("SIGKILL");
  await desk.start();
  const after = await desk.agent("agent", "v2 modern");
  await callHeld(after, "archive.salary");
  expect(JSON.stringify((await desk.gate(id)).outcome)).toContain("the-secret");
  expect(await desk.decide(id, "alice")).toMatchObject({ status: "done" });
  expect(await after.call("archive.salary")).toBe(text);
  expect(desk.traces()).toEqual(["salary {}"]);
});

test(
  "killed, and configured otherwise: what was held is held, and is handed over as it was looked at",
  slow,
  async () => {
    const desk = await startArchive();
    await callHeld(await desk.agent("agent"), "archive.salary");
    const id = await onlyHeld(desk);
    const before = await desk.gate(id);
    await desk.end("SIGKILL");
    // No rule holds anything now, and the server is gone.
    const path = join(desk.dataDir, "mcpx.json");
    const config = JSON.parse(readFileSync(path, "utf8"));
    config.gates.rules = [{ tools: "**", action: "allow" }];
    config.mcpServers = {};
    writeFileSync(path, JSON.stringify(config));
    await desk.start();
    const after = await desk.agent("agent", "v2 modern");
    const wait = () => after.call("mcpax.wait", { confirmation_id: id, timeout_ms: 500 });
    expect(await wait()).toMatch(heldText);
    expect(await desk.gate(id)).toMatchObject({ outcome: before.outcome, terms: before.terms });
    expect(await desk.decide(id, "alice")).toMatchObject({ status: "done" });
    expect(await wait()).toBe(text);
    expect(desk.traces()).toEqual(["salary {}"]);
  },
);

test("a result that is another than was looked at is handed to nobody", slow, async () => {
  const desk = await startArchive();
  const agent = await desk.agent("agent");
  await callHeld(agent, "archive.salary");
  const id = await onlyHeld(desk);
  const db = new DatabaseSync(join(desk.dataDir, "state.db"));
  db.exec("PRAGMA busy_timeout = 5000");
  db.prepare("UPDATE gates SET result = replace(result, '12345', '99999') WHERE id = ?").run(id);
  db.close();
  expect(await desk.decide(id, "alice")).toMatchObject({ status: "withheld" });
  expect(await agent.call("archive.salary")).toBe(
    "The call was made; its result was withheld: the stored result differs from the result that was shown",
  );
});

test("errors are held too, and what is too large is withheld", slow, async () => {
  const desk = await startArchive();
  const agent = await desk.agent("agent");
  await expect
    .poll(() => agent.call("archive.huge"), polled)
    .toBe("The call was made; its result was withheld: the result was too large to be shown for review");
  await callHeld(agent, "archive.broken");
  const id = await onlyHeld(desk);
  expect(JSON.stringify((await desk.gate(id)).outcome)).toContain("broken-secret");
  expect(await desk.decide(id, "alice")).toMatchObject({ status: "failed" });
  await expect(agent.call("archive.broken")).rejects.toThrow("broken-secret");
});

test("[AX-11.3-2] two phases, two signatures each; no proof counts for the other", slow, async () => {
  const desk = await startArchive({ action: "ask", approvers: 2 });
  const agent = await desk.agent("agent");
  expect(await agent.call("archive.salary")).toContain("Nothing has happened yet");
  const id = (await desk.gates("pending"))[0]?.id ?? "";
  const ofCall = (await desk.gate(id)).terms;
  await desk.decide(id, "alice");
  expect(desk.traces()).toEqual([]);
  expect(await desk.decide(id, "bob")).toMatchObject({ status: "held" });
  expect(desk.traces()).toEqual(["salary {}"]);
  const ofResult = (await desk.gate(id)).terms;
  expect(ofResult).toMatchObject({ phase: "result", arguments_digest: ofCall.arguments_digest });
  const place = { url: `${desk.url()}/mcp`, token: await desk.token("courier") };
  const confirm = async (about: GateTerms) => {
    const params = { confirmation_id: id, proof: await desk.proof(about, "bob") };
    return (await ask(place, "mcpax/confirm", params)).message;
  };
  for (const about of [ofCall, { ...ofResult, result_digest: ofCall.arguments_digest }]) {
    expect(await confirm(about)).toMatchObject({ error: { data: { reason: "bad_proof" } } });
  }
  expect(await desk.decide(id, "alice")).toMatchObject({ status: "held" });
  await callHeld(agent, "archive.salary");
  expect(await confirm(ofResult)).toHaveProperty("result");
  expect(await agent.call("archive.salary")).toBe(text);
  expect(desk.traces()).toEqual(["salary {}"]);
  expect(desk.actions(id)).toEqual([
    "gate.approve alice",
    "gate.approve bob",
    "gate.held agent",
    "gate.release alice",
    "gate.release bob",
  ]);
});

test(
  "[AX-11.3-6] whatever the agent tries, nothing of a held result leaves before it is released",
  slow,
  async () => {
    const desk = await startArchive();
    const place = { url: `${desk.url()}/mcp`, token: await desk.token("agent") };
    const tasks = { extensions: { "io.modelcontextprotocol/tasks": {} } };
    const call = { name: "archive.salary", arguments: {} };
    const seen: string[] = [];
    const note = async (heard: Promise<Heard>) => void seen.push(...(await heard).texts);
    await note(callTool(place, "archive.salary"));
    await expect.poll(() => desk.gates("held"), polled).toHaveLength(1);
    const id = await onlyHeld(desk);
    const waiting = { name: "mcpax.wait", arguments: { confirmation_id: id, timeout_ms: 100 } };
    // Asking again, waiting, as a task of either era, with progress, in sessions of its own, by the tree's own tools.
    const session = await openSession(place, { tasks: {} });
    await Promise.all([
      note(callTool(place, "archive.salary")),
      note(ask(place, "tools/call", waiting)),
      note(ask(place, "tools/call", { ...call, task: {} }, { capabilities: tasks })),
      note(ask(place, "tools/call", call, { meta: { progressToken: "p" } })),
      note(ask(place, "tasks/get", { taskId: id }, { capabilities: tasks })),
      note(session.request("tools/call", { ...call, task: { ttl: 60_000 } })),
      note(session.request("tools/call", waiting)),
      note(session.request("tasks/list")),
      note(session.request("tasks/result", { taskId: id })),
      note(callTool(place, "mcpax.status")),
      note(callTool(place, "mcpax.routes")),
      note(ask(place, "mcpax/confirm", { confirmation_id: id, proof: "x" })),
    ]);
    // At the page and in REST, with its own token.
    const headers = { authorization: `Bearer ${place.token}`, "content-type": "application/json" };
    const gets = [
      `/approve/${id}`,
      `/approve/${id}/call`,
      `/admin/gates/${id}`,
      "/admin/gates",
      "/admin/audit",
    ];
    for (const path of gets) seen.push(await (await fetch(`${desk.url()}${path}`, { headers })).text());
    const credential = { id: "x", response: { clientDataJSON: "x", authenticatorData: "x", signature: "x" } };
    for (const path of ["look", "look/options", "passkey/decision", "passkey/options", "decision"]) {
      const body = JSON.stringify({ credential, decision: "approve", proof: "x" });
      const answer = await fetch(`${desk.url()}/approve/${id}/${path}`, { method: "POST", headers, body });
      expect(answer.status, path).toBeGreaterThanOrEqual(400);
      seen.push(await answer.text());
    }
    // As an admin, who has asked for it.
    const [token = ""] = await mintTokens(desk.dataDir, [{ sub: "agent", topics: [], admin: true }]);
    const asAdmin = { headers: { authorization: `Bearer ${token}` } };
    const own = await fetch(`${desk.url()}/admin/gates/${id}`, asAdmin);
    expect(own.status).toBe(200);
    seen.push(await own.text());
    expect(desk.traces()).toEqual(["salary {}"]);
    expect(seen.length).toBeGreaterThan(20);
    for (const one of seen) expect(one).not.toContain("the-secret");
    // The control: the same words are found once it was released.
    await desk.decide(id, "alice");
    const [released] = (await ask(place, "tools/call", waiting)).texts;
    expect(released).toContain("the-secret");
  },
);

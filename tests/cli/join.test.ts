// `mcpx join`, `peers`, `pending`, `approve`, `reject`: being in a room from the terminal.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mcpxCommand, programPath } from "../support/programs.ts";
import { mcpx, type RunningCommand, scratch, start, up } from "./support/mcpx-process.ts";

const tiny = [process.execPath, programPath("tests/cli/support/tiny-server.ts")];

async function enter(dataDir: string, id: string, ...more: string[]): Promise<RunningCommand> {
  const chat = start(["join", "demo", "--id", id, "--data", dataDir, ...more], { isTyped: true });
  await chat.line(/^-- demo as|"joined"/);
  return chat;
}

async function serveTiny(dataDir: string): Promise<void> {
  await start(["serve", "demo", "tiny", "--data", dataDir, "--", ...tiny]).line(/^tiny is in demo/);
}

test("what is typed is said, and who comes and goes is told", async () => {
  const dataDir = scratch();
  await up(dataDir);
  const alice = await enter(dataDir, "alice");
  expect(alice.out[0]).toBe("-- demo as alice (full), nobody else is here; /help shows what can be done");
  const bob = await enter(dataDir, "bob", "--level", "restricted");
  await alice.line(/^-- bob joined \(human, restricted\)$/);
  bob.type("hello \u001b[2J\u202ealice");
  bob.type("//peers is a command");
  expect(await alice.line(/hello/)).toMatch(/^\d\d:\d\d:\d\d {2}bob {2}hello \\u001b\[2J\\u202ealice$/);
  await alice.line(/ {2}bob {2}\/peers is a command$/);
  alice.type("/peers");
  await alice.line(/^bob {2}human {2}restricted$/);
  bob.type("/quit");
  expect(await bob.ended).toEqual({ code: 0, signal: null });
  await alice.line(/^-- bob left$/);
  alice.type();
  expect(await alice.ended).toEqual({ code: 0, signal: null });
});

test("a script calls tools one after the other, and its exit code tells whether all went well", async () => {
  const dataDir = scratch();
  await up(dataDir);
  await serveTiny(dataDir);
  const chat = start(["join", "demo", "--yes", "--data", dataDir], { isTyped: true });
  for (const line of [
    "/tools tiny",
    '/call tiny params {"a": 1}',
    "/call tiny nothing",
    "/call tinny params",
    "/call tiny params {a: 1}",
    "/call tiny",
    "/frobnicate",
    "/tool tiny",
  ]) {
    chat.type(line);
  }
  chat.type();
  expect((await chat.ended).code).toBe(1);
  expect(chat.out.slice(1)).toEqual([
    "  params()",
    "  pids()",
    "  crash()",
    "  slow()",
    "  grow()",
    "  big()",
    "  ask()",
    expect.stringMatching(/^\{"name":"params","arguments":\{"a":1\}/),
    "!! no tool nothing",
    "!! tinny is not here; did you mean tiny?",
    `!! the text {a: 1} is not a JSON object; write for example '{"message": "hi"}'`,
    "!! /call has a missing argument; write /call PEER TOOL JSON",
    "!! there is no /frobnicate; see /help; // says a slash",
    "!! there is no /tool; did you mean /tools?",
  ]);
});

test("[X1-4.2-1] a proposal is a card; approved with changes, its result reaches who made it", async () => {
  const dataDir = scratch();
  await up(dataDir);
  await serveTiny(dataDir);
  const alice = await enter(dataDir, "alice");
  const novice = await enter(dataDir, "novice", "--level", "restricted");
  novice.type('/call tiny params {"celsius": 220}');
  await novice.line(/^!! you are restricted here and may not call; \/propose tiny params … asks others to$/);
  novice.type('/propose tiny params {"celsius": 220, "minutes": 5} The bread is ready');
  await alice.line(/^└ \/approve 1 {3}\/reject 1 REASON$/);
  const card = alice.out.slice(-5);
  expect(card.slice(0, 3)).toEqual([
    "┌ proposal 1  novice wants tiny to do params",
    '│ with {"celsius":220,"minutes":5}',
    "│ because The bread is ready",
  ]);
  // Around midnight the end is on another day.
  expect(card[3]).toMatch(/^│ until (\d{4}-\d\d-\d\d )?\d\d:\d\d:\d\d, \dm left$/);
  alice.type('/approve 1 {"celsius": 180}');
  await alice.line(/^\{"name":"params","arguments":\{"celsius":180,"minutes":5\}/);
  await novice.line(/^-- proposal 1 approved by alice, with changes$/);
  await novice.line(/^ {3}\+ \/arguments\//);
  await novice.line(/^ {3}\{"name":"params","arguments":\{"celsius":180,"minutes":5\}/);
  alice.type("/approve 1");
  await alice.line(/^!! proposal 1: it is fulfilled already; see \/pending$/);
});

test("who is restricted is offered what it may do, and told what it may not", {
  timeout: 60_000,
}, async () => {
  const dataDir = scratch();
  await up(dataDir);
  await serveTiny(dataDir);
  const novice = await enter(dataDir, "novice", "--level", "restricted");
  const other = await enter(dataDir, "other", "--level", "restricted");
  novice.type("/tools tiny");
  await novice.line(
    /^!! you may propose calls here, not ask for tools; \/propose tiny TOOL JSON REASON, or join with --level full$/,
  );
  novice.type("/propose tiny params");
  await other.line(/^└ somebody of level full decides$/);
  other.type("/withdraw 1");
  await other.line(/^!! only novice can withdraw proposal 1; see \/pending$/);
  novice.type("/propose other dance");
  await other.line(/^└ \/reject 2 REASON$/);
  novice.type("/pending 1");
  await novice.line(/^└ \/withdraw 1$/);
  novice.type("/withdraw 1 it is late");
  await other.line(/^-- proposal 1 withdrawn by novice$/);
  other.type("/reject 2 no");
  await novice.line(/^-- proposal 2 rejected by other: no$/);
});

test("of the tree in a room one has what one's token opens, and is told where that is nothing", {
  timeout: 60_000,
}, async () => {
  const dataDir = scratch();
  writeFileSync(join(dataDir, "mcpx.json"), '{ "topics": { "demo": { "tree": true } } }');
  await up(dataDir);
  const without = await enter(dataDir, "alice", "--yes");
  const told =
    /^!! your token opens no tools of tree; mcpx join demo --tools GLOB, or mcpx token --tools GLOB makes one that does$/;
  without.type("/tools tree");
  await without.line(told);
  without.type("/call tree mcpax.status");
  await expect.poll(() => without.out.filter((line) => told.test(line))).toHaveLength(2);
  const having = await enter(dataDir, "bob", "--tools", "mcpax.*", "--yes");
  having.type("/tools tree");
  await having.line(/^ {2}mcpax\.status\(\)/);
  having.type("/call tree mcpax.nothing");
  await having.line(/^!! Unknown tool: mcpax\.nothing; List the tools again$/);
  having.type("/call tree mcpax.status");
  await having.line(/"servers"/);
});

test("a number in the chat line is ours: no proposal can take it by its id", async () => {
  const dataDir = scratch();
  const { url } = await up(dataDir);
  const alice = await enter(dataDir, "alice");
  const novice = await enter(dataDir, "novice", "--level", "restricted");
  novice.type("/propose alice harmless");
  await alice.line(/proposal 1 {2}novice wants alice to do harmless/);
  const minted = await mcpx(["token", "--topic", "demo", "--id", "mallory", "--data", dataDir]);
  const ticket = await fetch(`${url}/v0/tickets`, {
    method: "POST",
    headers: { authorization: `Bearer ${minted.out}`, "content-type": "application/json" },
    body: '{"topic":"demo"}',
  }).then((response) => response.json() as Promise<{ ticket: string }>);
  const socket = new WebSocket(`${url.replace("http", "ws")}/v0/ws?topic=demo&ticket=${ticket.ticket}`);
  await new Promise((resolve) => socket.addEventListener("open", resolve));
  const payload = { method: "tools/call", params: { name: "harmful", arguments: {} } };
  socket.send(
    JSON.stringify({ protocol: "mcpx/v0.1", id: "1", kind: "mcp/proposal", to: ["alice"], payload }),
  );
  await alice.line(/proposal 2 {2}mallory wants alice to do harmful/);
  alice.type("/pending 1");
  await expect.poll(() => alice.out.filter((line) => line.includes("to do harmless"))).toHaveLength(2);
  socket.close();
});

test("[X1-10.2-2] pending, approve and reject decide without a chat line", { timeout: 90_000 }, async () => {
  const dataDir = scratch();
  await up(dataDir);
  await serveTiny(dataDir);
  expect(await mcpx(["pending", "demo", "--data", dataDir])).toEqual({
    code: 0,
    out: "",
    err: "nothing is pending in demo",
  });
  const novice = await enter(dataDir, "novice", "--level", "restricted");
  novice.type('/propose tiny params {"n": 1} first');
  novice.type('/propose tiny params {"n": 2} second');
  await novice.line(/^-- proposal 2 is made/);
  const listed = await mcpx(["pending", "demo", "--json", "--data", dataDir]);
  const [first, second] = JSON.parse(listed.out) as { id: string; reason: string }[];
  expect([first?.reason, second?.reason]).toEqual(["first", "second"]);
  expect(first).toMatchObject({
    proposalId: first?.id,
    proposer: "novice",
    target: "tiny",
    method: "tools/call",
    params: { name: "params", arguments: { n: 1 } },
    status: "pending",
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    expiresAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
  });
  const shown = (await mcpx(["pending", "demo", "--data", dataDir])).out;
  expect(shown).toContain(`└ npx mcpx approve demo ${first?.id}   npx mcpx reject demo ${first?.id} REASON`);
  const changes = ["--arguments", '{"m": 3}'];
  expect(await mcpx(["approve", "demo", String(first?.id).slice(0, 3), "--data", dataDir])).toMatchObject({
    code: 1,
    err: expect.stringContaining("there is no "),
  });
  expect((await mcpx(["approve", "demo", "--data", dataDir])).err).toBe(
    "mcpx: there is no gate demo; see npx mcpx pending, and for a proposal in a room write ROOM ID",
  );
  const beginning = String(first?.id).slice(0, 8);
  const done = await mcpx(["approve", "demo", beginning, ...changes, "--data", dataDir]);
  expect(done).toMatchObject({ code: 0, out: expect.stringContaining('"arguments":{"n":1,"m":3}') });
  await novice.line(/^-- proposal 1 approved by cli-.*, with changes$/);
  const told = await mcpx([
    "reject",
    "demo",
    String(second?.id).slice(0, 8),
    "too",
    "many",
    "--data",
    dataDir,
  ]);
  expect(told).toMatchObject({ code: 0, out: "novice was told; it ends only when tiny rejects it" });
  await novice.line(/^-- proposal 2 cli-.* advises against it: too many$/);
  expect(await mcpx(["approve", "demo", String(first?.id), "--data", dataDir])).toEqual({
    code: 1,
    out: "",
    err: `mcpx: ${first?.id} cannot be approved: it is fulfilled already; see npx mcpx pending demo`,
  });
});

test("who is asked may say no for good", async () => {
  const dataDir = scratch();
  await up(dataDir);
  const alice = await enter(dataDir, "alice");
  const novice = await enter(dataDir, "novice", "--level", "restricted");
  novice.type("/propose alice dance because it is Friday");
  await alice.line(/novice wants alice to do dance/);
  alice.type("/reject 1 not today");
  await novice.line(/^-- proposal 1 rejected by alice: not today$/);
  alice.type("/pending");
  await alice.line(/^nothing is pending$/);
});

test("--json prints events and answers one per line", async () => {
  const dataDir = scratch();
  await up(dataDir);
  await serveTiny(dataDir);
  const alice = await enter(dataDir, "alice", "--json", "--yes");
  expect(JSON.parse(alice.out[0] ?? "")).toMatchObject({ event: "joined", id: "alice", level: "full" });
  await mcpx(["say", "demo", "hi", "--id", "bob", "--data", dataDir]);
  expect(JSON.parse(await alice.line(/"chat"/))).toMatchObject({ event: "chat", from: "bob", text: "hi" });
  expect(JSON.parse(await alice.line(/"join"/))).toMatchObject({ event: "presence", type: "join" });
  alice.type("/call tiny params");
  expect(JSON.parse(await alice.line(/"result"/))).toMatchObject({ event: "result", tool: "params" });
  alice.type("/call tiny nothing");
  expect(JSON.parse(await alice.line(/"failed"/))).toMatchObject({ message: "no tool nothing" });
  alice.type("hello");
  expect(JSON.parse(await alice.line(/"said"/))).toMatchObject({ event: "said", seq: expect.any(Number) });
});

test("[X0-9-1] a script that may not be asked calls nothing without --yes", async () => {
  const dataDir = scratch();
  await up(dataDir);
  await serveTiny(dataDir);
  const alice = await enter(dataDir, "alice");
  alice.type("/call tiny params");
  await alice.line(/^!! \/call asks before it sends, and there is no terminal to ask; mcpx join ROOM --yes$/);
  alice.type();
  expect((await alice.ended).code).toBe(1);
  const { out } = await mcpx(["tail", "demo", "--no-follow", "--data", dataDir]);
  expect(out).not.toContain("params");
});

test("[X0-9-1] at a terminal /call shows the call and sends it on y alone", async () => {
  const dataDir = scratch();
  await up(dataDir);
  await serveTiny(dataDir);
  const python = ["python3", join(import.meta.dirname, "support", "terminal.py")] as const;
  const args = ["join", "demo", "--id", "alice", "--data", dataDir];
  const alice = start([...mcpxCommand, ...args], { program: python, isTyped: true, env: { TERM: "xterm" } });
  await alice.line(/as alice \(full\)/);
  for (const no of ["n", "", "yes please", "/call tiny params"]) {
    const asked = alice.out.filter((line) => line.includes("not called")).length;
    alice.press('/call tiny params {"a": 1}\r');
    alice.press(`${no}\r`);
    await expect.poll(() => alice.out.filter((line) => line.includes("not called"))).toHaveLength(asked + 1);
  }
  expect(alice.out.some((line) => line.includes('{"name":"params"'))).toBe(false);
  expect(alice.out.some((line) => line.includes('?? call params of tiny with {"a":1}?'))).toBe(true);
  alice.press('/call tiny params {"a": 2}\r');
  alice.press("y\r");
  await alice.line(/\{"name":"params","arguments":\{"a":2\}/);
});

test("at a terminal, what comes in appears above what is being typed and leaves it whole", async () => {
  const dataDir = scratch();
  await up(dataDir);
  const python = ["python3", join(import.meta.dirname, "support", "terminal.py")] as const;
  const args = ["join", "demo", "--id", "alice", "--data", dataDir];
  const alice = start([...mcpxCommand, ...args], {
    program: python,
    isTyped: true,
    env: { TERM: "xterm" },
  });
  await alice.line(/as alice/);
  const half = "this line is half done and longer than the terminal is wide";
  alice.press(half);
  await mcpx(["say", "demo", "excuse me", "--id", "bob", "--data", dataDir]);
  expect(await alice.line(/excuse me/)).toContain("bob");
  await alice.line(/-- bob left/);
  // It is drawn anew below, and goes on where it was.
  alice.press(", and now whole\r");
  await alice.line(new RegExp(`demo> ${half}`));
  await expect
    .poll(async () => (await mcpx(["tail", "demo", "--no-follow", "--data", dataDir])).out)
    .toContain(`alice  chat  ${half}, and now whole`);
  alice.press("not said\u0003");
  alice.press("\u0004");
  expect(await alice.ended).toEqual({ code: 0, signal: null });
});

test("peers shows who is there, and with --tools what they can do", async () => {
  const dataDir = scratch();
  await up(dataDir);
  expect(await mcpx(["peers", "demo", "--data", dataDir])).toEqual({
    code: 0,
    out: "",
    err: "nobody is in demo",
  });
  await serveTiny(dataDir);
  await enter(dataDir, "alice");
  const { out } = await mcpx(["peers", "demo", "--data", dataDir]);
  expect(out.split("\n").sort()).toEqual(["alice  human  full", "tiny   robot  full"]);
  const tools = await mcpx(["peers", "demo", "--tools", "--data", dataDir]);
  expect(tools.out).toContain("tiny  robot  full\n  params()\n  pids()");
  expect(tools.out).toContain("alice  human  full\n  (serves nothing)");
});

test("[X0-6-1] being replaced ends the chat line with a clear line", async () => {
  const dataDir = scratch();
  await up(dataDir);
  const alice = await enter(dataDir, "alice");
  await mcpx(["say", "demo", "it is me", "--id", "alice", "--data", dataDir]);
  expect((await alice.ended).code).toBe(1);
  expect(alice.err.at(-1)).toBe("mcpx: another connection took this id's place (4409); use another --id");
});

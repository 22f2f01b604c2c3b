// The audit for people: filtered, followed over a restart, exported, and checked anywhere, with a real gateway.
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { text } from "node:stream/consumers";
import { createWebhookVerifier } from "@mcpx/bridges";
import { expect, onTestFinished, test } from "vitest";
import { mcpx, scratch, start, up } from "./support/mcpx-process.ts";

const slow = { timeout: 180_000 };

function home() {
  const dataDir = scratch();
  const run = (...args: string[]) => mcpx([...args, "--data", dataDir], { cwd: dataDir });
  const begin = () => up(dataDir);
  const issue = (id: string) => run("token", "--topic", "demo", "--id", id);
  const path = (name: string) => join(dataDir, name);
  const actions = async (...args: string[]) =>
    (JSON.parse((await run("audit", "--json", ...args)).out).records as { action: string }[]).map(
      ({ action }) => action,
    );
  return { dataDir, run, begin, issue, path, actions };
}

const linesOf = (path: string) => readFileSync(path, "utf8").trimEnd().split("\n");

test("[B-AUDIT-1] what is wanted is found: by action, by who, by time", slow, async () => {
  const { run, begin, issue, actions } = home();
  await begin();
  await issue("alice");
  await run("panic");
  await run("panic", "off");
  expect(await actions("--action", "gate.*")).toEqual(["gate.calm", "gate.panic"]);
  expect(await actions("--action", "token.issue")).toEqual(["token.issue"]);
  expect(await actions("--action", "gate.c*", "--since", "1h")).toEqual(["gate.calm"]);
  expect(await actions("--actor", "nobody")).toEqual([]);
  expect(await actions("--since", "2999-01-01")).toEqual([]);
  const shown = await run("audit", "--action", "*.issue");
  expect(shown.out).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}token\.issue {2}issued {2}cli:\S+ → alice/);
  expect(await run("audit", "--since", "yesterday")).toMatchObject({
    code: 2,
    err: expect.stringContaining("--since 1h"),
  });
});

test("[B-AUDIT-1] an export is whole, private, made once, and holds without a gateway", slow, async () => {
  const { dataDir, run, begin, issue, path } = home();
  const gateway = await begin();
  const { out: token } = await issue("alice");
  await issue("bob");
  const made = await run("audit", "--export", "a.jsonl");
  expect(made).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^2 records in a\.jsonl, head [0-9a-f]{64}$/),
  });
  const head = made.out.slice(-64);
  expect(statSync(path("a.jsonl")).mode & 0o777).toBe(0o600);
  const lines = linesOf(path("a.jsonl"));
  expect(lines.map((line) => Object.keys(JSON.parse(line))[0])).toEqual(["format", "seq", "seq", "head"]);
  for (const part of token.trim().split(".")) expect(lines.join("\n")).not.toContain(part);
  expect(await run("audit", "--export", "a.jsonl")).toMatchObject({
    code: 1,
    err: expect.stringContaining("exists already"),
  });
  expect(await run("audit", "--export", "b.jsonl", "--actor", "bob")).toMatchObject({ code: 2 });
  expect(existsSync(path("b.jsonl"))).toBe(false);
  expect((await run("audit", "--export", "-")).out.split("\n").slice(0, -1)).toEqual(lines.slice(0, -1));
  // Over the wire it is the same, with a token of an admin.
  const admin = (await run("token", "--id", "root", "--admin")).out.trim();
  const wire = ["audit", "--export", "-", "--url", gateway.url, "--token", admin];
  const remote = await mcpx(wire);
  expect(remote.out.split("\n").slice(1, 3)).toEqual(lines.slice(1, 3));
  expect((await mcpx([...wire.slice(0, -1), token.trim()])).code).toBe(1);
  gateway.kill("SIGTERM");
  await gateway.ended;
  const elsewhere = scratch();
  const verify = (file: string, ...more: string[]) =>
    mcpx(["audit", "verify", file, ...more], { cwd: elsewhere });
  const good = await verify(path("a.jsonl"));
  expect(good).toMatchObject({ code: 0, err: "" });
  expect(good.out).toMatch(/is whole: 2 records, 1 to 2, \d{4}-.* to \d{4}-/);
  expect(good.out).toContain(`head ${head}`);
  expect(await verify(path("a.jsonl"), "--live", "--data", dataDir)).toMatchObject({
    code: 0,
    out: expect.stringContaining("the export is part of the chain of the data in"),
  });
  writeFileSync(path("cut.jsonl"), `${[...lines.slice(0, 2), lines[3]].join("\n")}\n`);
  expect(await verify(path("cut.jsonl"))).toMatchObject({
    code: 1,
    err: expect.stringContaining("was cut at the end, before record 2"),
  });
  writeFileSync(path("changed.jsonl"), lines.join("\n").replace("bob", "eve"));
  expect(await verify(path("changed.jsonl"))).toMatchObject({
    code: 1,
    err: expect.stringContaining("record 2 was changed (line 3"),
  });
  expect(JSON.parse((await verify(path("changed.jsonl"), "--json")).out)).toMatchObject({
    ok: false,
    at: 2,
    fault: "changed",
  });
  expect(await verify(path("mcpx.json"))).toMatchObject({ code: 1, err: expect.stringContaining("ENOENT") });
});

test("[B-AUDIT-1] a chain that was cut or written anew is told from its export", slow, async () => {
  const { dataDir, run, begin, issue, path } = home();
  const gateway = await begin();
  for (const id of ["alice", "bob"]) await issue(id);
  await run("audit", "--export", "a.jsonl");
  gateway.kill("SIGTERM");
  await gateway.ended;
  const live = () => run("audit", "verify", path("a.jsonl"), "--live");
  expect(await live()).toMatchObject({ code: 0 });
  const [first] = linesOf(path("a.jsonl")).slice(1);
  const write = (sql: string) => {
    const db = new DatabaseSync(join(dataDir, "state.db"));
    db.exec(sql);
    db.close();
  };
  write(
    `DELETE FROM audit WHERE seq = 2; UPDATE audit_head SET seq = 1, hash = '${JSON.parse(first ?? "").hash}'`,
  );
  // By itself it looks whole; the export knows better.
  expect(await run("audit", "verify")).toMatchObject({ code: 0 });
  expect(await live()).toMatchObject({
    code: 1,
    err: expect.stringContaining("has 1 records, and the export goes to 2"),
  });
  await issue("eve");
  expect(await run("audit", "verify")).toMatchObject({ code: 0 });
  expect(await live()).toMatchObject({
    code: 1,
    err: expect.stringContaining("record 2 of the export is not the one of"),
  });
  write("UPDATE audit SET actor = 'x' WHERE seq = 1");
  expect(await run("audit", "verify")).toMatchObject({
    code: 1,
    err: expect.stringContaining("broken at record 1"),
  });
  expect(await live()).toMatchObject({
    code: 1,
    err: expect.stringContaining("is itself broken at record 1"),
  });
});

test("[B-AUDIT-1] followed, records come as they are made, over a restart, until Ctrl-C", slow, async () => {
  const { dataDir, run, begin, issue } = home();
  const first = await begin();
  await issue("alice");
  const admin = (await run("token", "--id", "root", "--admin", "--ttl", "1h")).out.trim();
  const near = start(["audit", "--follow", "--action", "token.*", "--data", dataDir]);
  const far = start(["audit", "--follow", "--json", "--url", first.url, "--token", admin]);
  await near.line(/token\.issue .* → alice/);
  await far.line(/"subject":"alice"/);
  await issue("bob");
  await near.line(/token\.issue .* → bob/);
  await far.line(/"subject":"bob"/);
  first.kill("SIGKILL");
  await first.ended;
  await far.line(/^-- .* cannot be reached/);
  const port = new URL(first.url).port;
  const again = start(["up", "--port", port, "--json", "--data", dataDir]);
  await again.line(/^\{"url"/);
  await issue("carol");
  await near.line(/token\.issue .* → carol/);
  await far.line(/"subject":"carol"/);
  expect(far.err).toContain("-- back, nothing was missed");
  for (const command of [near, far]) {
    command.kill("SIGINT");
    expect(await command.ended).toEqual({ code: 0, signal: null });
  }
  const subjects = far.out.map((line) => JSON.parse(line).subject);
  expect(subjects.filter((one) => ["alice", "bob", "carol"].includes(one))).toEqual([
    "alice",
    "bob",
    "carol",
  ]);
  expect(near.out.every((line) => line.includes("token."))).toBe(true);
});

test(
  "records are sent elsewhere as they are written, signed, and none is missing after kill -9 in an outage",
  slow,
  async () => {
    const { run, begin, issue, path } = home();
    const secret = `whsec_${Buffer.alloc(24, 7).toString("base64")}`;
    const check = createWebhookVerifier(secret);
    const seqs = new Set<number>();
    const verdicts: string[] = [];
    let [isAway, refused] = [false, 0];
    const server = createServer(async (message, response) => {
      const body = await text(message);
      if (isAway) {
        refused += 1;
        response.writeHead(503).end();
        return;
      }
      verdicts.push(check({ headers: message.headers as Record<string, string>, body }, Date.now()));
      for (const { seq } of JSON.parse(body).data.records) seqs.add(seq);
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`;
    writeFileSync(path("secret"), secret, { mode: 0o600 });
    const hook = { kind: "webhook", url, secret: `\${file:${path("secret")}}` };
    writeFileSync(path("mcpx.json"), JSON.stringify({ audit: { push: { hook } } }), { mode: 0o600 });
    const gateway = await begin();
    await issue("alice");
    await expect.poll(() => seqs.has(1)).toBe(true);
    isAway = true;
    await issue("bob");
    await expect.poll(() => refused).toBeGreaterThan(0);
    gateway.kill("SIGKILL");
    await gateway.ended;
    isAway = false;
    await begin();
    await issue("carol");
    const { records } = JSON.parse((await run("audit", "--json")).out) as { records: { seq: number }[] };
    await expect.poll(() => seqs.size).toBeGreaterThanOrEqual(records.length);
    expect([...seqs].sort((a, b) => a - b)).toEqual(Array.from(seqs, (_, index) => index + 1));
    expect(new Set(verdicts)).toEqual(new Set(["good"]));
  },
);

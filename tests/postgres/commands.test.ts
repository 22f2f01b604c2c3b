// A gateway whose configuration names a PostgreSQL, and the commands beside it: all of them find the same state.
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { settleStore } from "../../packages/cli/src/files/open-store.ts";
import { mcpx, type RunningGateway, scratch, up } from "../cli/support/mcpx-process.ts";
import { startPostgres } from "../support/postgres-server.ts";

const slow = { timeout: 180_000 };
const server = await startPostgres();
afterAll(() => server[Symbol.asyncDispose]());

const password = "not a secret: of tests";
const env = { STORE_PASSWORD: encodeURIComponent(password) };

/** A directory whose configuration names a schema of its own, the password from the environment. */
function home(schema: string, more: object = {}) {
  const dataDir = scratch();
  const address = server
    .tcpUrl({ schema })
    .replace(encodeURIComponent(password), `$${"{env:STORE_PASSWORD}"}`);
  const configure = (store: string | undefined) =>
    writeFileSync(join(dataDir, "mcpx.json"), JSON.stringify({ ...more, ...(store && { store }) }));
  configure(address);
  const run = (...args: string[]) => mcpx([...args, "--data", dataDir], { cwd: dataDir, env });
  return { dataDir, address, configure, run, begin: () => up(dataDir, [], { cwd: dataDir, env }) };
}

async function end(gateway: RunningGateway): Promise<void> {
  gateway.kill("SIGTERM");
  expect((await gateway.ended).code).toBe(0);
}

test(
  "[B-SCALE-1] commands beside a gateway on PostgreSQL, and after it, have its state and no other",
  slow,
  async () => {
    const { dataDir, run, begin } = home("beside");
    expect((await run("token", "--id", "early", "--topic", "demo")).err).toMatch(
      /names a store, and no gateway has been started on it yet; run npx mcpx up first/,
    );
    const gateway = await begin();
    const { out: token } = await run("token", "--id", "alice", "--topic", "demo", "--level", "full");
    const ticket = await fetch(`${gateway.url}/v0/tickets`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ topic: "demo" }),
    });
    expect(ticket.status).toBe(201);
    const said = await run("say", "demo", "hello from postgres");
    expect(said).toMatchObject({ code: 0 });
    expect((await run("tail", "demo", "--json", "--history", "10", "--no-follow")).out).toContain(
      "hello from",
    );
    expect((await run("key", "new", "--unsealed")).code).toBe(0);
    expect(await run("key", "enroll", "carla", "--unsealed")).toMatchObject({ code: 0 });
    expect(existsSync(join(dataDir, "approvers"))).toBe(false);
    expect(await run("panic")).toMatchObject({ code: 0 });
    const { tokens } = JSON.parse((await run("token", "list", "--json")).out);
    const { jti } = tokens.find(({ sub }: { sub: string }) => sub === "alice");
    await end(gateway);

    // Nobody runs: the same commands open the engine.
    expect(await run("panic", "off", "--by", join(dataDir, "keys", "default.jwk"), "--yes")).toMatchObject({
      code: 0,
    });
    const later = await run("token", "--id", "bob", "--topic", "demo");
    expect(await run("token", "revoke", jti)).toMatchObject({ code: 0 });
    expect((await run("key", "log", "--json")).out).toContain("carla");
    const verified = await run("audit", "verify", "--json");
    expect(verified).toMatchObject({ code: 0 });
    const actions = (JSON.parse((await run("audit", "--json")).out).records as { action: string }[]).map(
      ({ action }) => action,
    );
    expect(actions).toEqual(expect.arrayContaining(["token.issue", "token.revoke", "gate.calm"]));
    expect(await run("audit", "--export", "record.jsonl")).toMatchObject({ code: 0 });
    expect(await run("backup", "copy")).toMatchObject({
      code: 1,
      err: expect.stringMatching(/is in PostgreSQL.*use pg_dump .* -n beside .*store\.key/),
    });
    expect(existsSync(join(dataDir, "copy"))).toBe(false);
    const findings = JSON.parse((await run("doctor", "--json")).out).findings as { text: string }[];
    const told = findings.map(({ text }) => text);
    expect(told).toContainEqual(expect.stringMatching(/^the chain holds: /));
    expect(told).toContainEqual(
      expect.stringMatching(
        /^PostgreSQL \d.* at postgres:\/\/mcpx@127\.0\.0\.1.*synchronous_commit on, .*fsync on/,
      ),
    );
    expect(told).toContainEqual(
      "its role is more than it needs: a superuser, may create roles, may create databases",
    );
    expect(told).toContainEqual(expect.stringMatching(/^min_wal_size is 80 MiB/));
    expect(existsSync(join(dataDir, "state.db"))).toBe(false);
    expect(existsSync(join(dataDir, "topics.db"))).toBe(false);

    // What they have written counts where a gateway runs again.
    const again = await begin();
    const asked = (bearer: string) =>
      fetch(`${again.url}/v0/topics`, { headers: { authorization: `Bearer ${bearer}` } });
    expect((await asked(later.out)).status).toBe(200);
    expect((await asked(token)).status).toBe(401);
    await end(again);

    // Rows that somebody changes by hand.
    expect(await run("audit", "verify"), "control").toMatchObject({ code: 0 });
    await server.sql("UPDATE beside.audit SET subject = 'mallory'::bytea WHERE action = 'token.revoke'");
    expect(await run("audit", "verify")).toMatchObject({
      code: 1,
      err: expect.stringMatching(/chain is broken at record \d+/),
    });
  },
);

test(
  "[B-SCALE-1] [B-KEY-2] approvers are rows: a command's count at once, whoever removes one by hand is heard within a second, and a row alone makes none",
  slow,
  async () => {
    const { dataDir, run, begin } = home("enrolled");
    const gateway = await begin();
    const key = (name: string) => join(dataDir, `${name}.jwk`);
    const listed = async () =>
      JSON.parse((await run("key", "list", "--json")).out).approvers.map(
        ({ name }: { name: string }) => name,
      );
    for (const name of ["ada", "ben", "mallory"])
      expect(await run("key", "new", "--out", key(name), "--unsealed")).toMatchObject({ code: 0 });
    const enrol = (name: string, ...more: string[]) =>
      run("key", "enroll", name, "--key", key(name), "--unsealed", "--yes", "--json", ...more);
    const first = await enrol("ada");
    expect(JSON.parse(first.out)).not.toHaveProperty("file");
    expect(JSON.parse((await enrol("ben")).out)).toMatchObject({ waits: true });
    expect(JSON.parse((await enrol("ben", "--by", key("ada"))).out)).not.toHaveProperty("waits");
    expect(await listed()).toEqual(["ada", "ben"]);
    const cards = async () =>
      (JSON.parse((await run("pending", "--json")).out) as { id: string; arguments: unknown }[]).map(
        ({ id, arguments: about }) => ({ id, about: JSON.stringify(about) }),
      );
    const cardAbout = async (words: string) => {
      await expect
        .poll(cards)
        .toContainEqual({ id: expect.any(String), about: expect.stringContaining(words) });
      return (await cards()).find(({ about }) => about.includes(words))?.id ?? "";
    };
    const approve = (id: string, by: string) => run("approve", id, "--yes", "--key", key(by));
    expect(await run("panic")).toMatchObject({ code: 0 });
    expect(JSON.parse((await run("panic", "off", "--json")).out)).toMatchObject({ waits: true });
    const calm = await cardAbout("panic");

    // By hand: nobody comes, and who is gone or has another key decides nothing.
    const [row] = await server.sql("SELECT name, approver FROM enrolled.approvers WHERE name = 'ben'");
    const put = (name: string, text: string) =>
      server.sql("INSERT INTO enrolled.approvers (name, approver) VALUES ($1, $2)", [name, text]);
    const own = JSON.parse((await run("key", "show", key("mallory"), "--json")).out).jwk;
    await put("mallory", JSON.stringify({ name: "mallory", jwk: own }));
    expect((await approve(calm, "mallory")).err).toMatch(/is not an enrolled approver/);
    await cardAbout("mallory may approve");
    await server.sql("DELETE FROM enrolled.approvers WHERE name = 'ben'");
    expect((await approve(calm, "ben")).err).toMatch(/is not an enrolled approver/);
    await cardAbout("ben approves nothing any more");
    await put("ben", JSON.stringify({ name: "ben", jwk: own }));
    for (const name of ["ben", "mallory"])
      expect((await approve(calm, name)).err).toMatch(/is not an enrolled approver/);
    await server.sql("UPDATE enrolled.approvers SET approver = $1 WHERE name = 'ben'", [row?.approver]);
    await expect.poll(async () => (await cards()).filter(({ about }) => about.includes("ben"))).toEqual([]);
    expect(await approve(calm, "ben"), "control").toMatchObject({ code: 0 });

    expect(await run("key", "remove", "ben", "--by", key("ada"), "--yes")).toMatchObject({ code: 0 });
    expect(await run("key", "remove", "mallory", "--by", key("ada"), "--yes")).toMatchObject({ code: 0 });
    expect(await server.sql("SELECT name FROM enrolled.approvers")).toEqual([{ name: "ada" }]);
    await end(gateway);
    await server.sql("UPDATE enrolled.authority_chain SET entry = replace(entry, 'ada', 'eve') WHERE n = 1");
    const broken = /entry \d of the chain of approvers.*rows of authority_chain in PostgreSQL/s;
    expect((await run("key", "log")).err).toMatch(broken);
    expect((await run("up", "--port", "0", "--no-demo")).err).toMatch(broken);
    await server.sql("UPDATE enrolled.authority_chain SET entry = replace(entry, 'eve', 'ada') WHERE n = 1");
    expect(await run("key", "reset", "--no-key-is-left")).toMatchObject({ code: 0 });
    expect(await listed()).toEqual([]);
    expect(existsSync(join(dataDir, "approvers"))).toBe(false);
  },
);

test(
  "[B-SCALE-1] no command makes files where a configuration names a store that no gateway was started on",
  slow,
  async () => {
    const { dataDir, address } = home("early");
    rmSync(join(dataDir, "mcpx.json"));
    const elsewhere = scratch();
    const config = join(elsewhere, "mcpx.json");
    writeFileSync(config, JSON.stringify({ store: address }));
    await mcpx(["key", "new", "--unsealed", "--data", dataDir], { cwd: elsewhere, env });
    const token = ["token", "--id", "ada", "--topic", "demo"];
    const told = /mcpx\.json names a store, and no gateway has been started on it yet/;
    const outcomes: [words: string[], err: RegExp][] = [
      [token, told],
      [["key", "enroll", "ada", "--unsealed"], told],
      [["config", "sign", "--config", config], told],
      [["config", "sign"], /nobody has accepted it/],
      [["key", "list"], /there is no approver yet/],
      [["doctor"], /^$/],
    ];
    for (const [words, err] of outcomes) {
      const cwd = words.includes(config) ? dataDir : elsewhere;
      const ran = await mcpx([...words, "--data", dataDir], { cwd, env });
      expect(ran.err, words.join(" ")).toMatch(err);
      expect(existsSync(join(dataDir, "state.db")), words.join(" ")).toBe(false);
    }
    // The control: elsewhere the same command makes them.
    expect(await mcpx([...token, "--data", dataDir], { cwd: scratch() })).toMatchObject({
      code: 0,
    });
    expect(existsSync(join(dataDir, "state.db"))).toBe(true);
  },
);

test("[B-SCALE-1] a directory is never parted from the state it has", slow, async () => {
  const { dataDir, address, run } = home("parted");
  const place = { dataDir, env };
  const settle = (store?: string) =>
    settleStore(place, store === undefined ? undefined : { address: store, dir: dataDir });
  expect(await settle(address)).toMatchObject({ shown: expect.not.stringContaining("of tests") });
  const file = (name: string) => join(dataDir, name);

  await expect(settle()).rejects.toThrow(
    /is in postgres:\/\/mcpx@127.*names no store; write "store" into mcpx.json/,
  );
  const another = address.replace("schema=parted", "schema=another");
  await expect(settle(another)).rejects.toThrow(/schema=another has the state of another gateway than/);
  writeFileSync(file("state.db"), "");
  await expect(settle(address)).rejects.toThrow(
    /is in its state\.db, and the configuration names .*mcpx migrate/,
  );
  rmSync(file("state.db"));

  // Without its key, or with another, nothing of it is used, and no other is made in its place.
  renameSync(file("store.key"), file("kept.key"));
  await expect(settle(address)).rejects.toThrow(/are sealed, and there is no store\.key in /);
  expect((await run("token", "--id", "a", "--topic", "demo")).err).toMatch(/there is no store\.key in /);
  expect(existsSync(file("store.key"))).toBe(false);
  writeFileSync(file("store.key"), `${Buffer.alloc(32).toString("base64url")}\n`, { mode: 0o600 });
  await expect(settle(address)).rejects.toThrow(/were sealed with another key than this one/);
  renameSync(file("kept.key"), file("store.key"));

  const { gatewayId } = JSON.parse(readFileSync(file("store.json"), "utf8"));
  await settle(address);
  expect(JSON.parse(readFileSync(file("store.json"), "utf8")).gatewayId, "control").toBe(gatewayId);
});

test(
  "[B-SCALE-1] a second directory on the same store is refused while the first one's gateway runs, and the password is told nowhere",
  slow,
  async () => {
    const { dataDir, begin } = home("twice");
    const second = home("twice");
    const gateway = await begin();
    writeFileSync(join(second.dataDir, "store.key"), readFileSync(join(dataDir, "store.key")), {
      mode: 0o600,
    });
    const refused = await mcpx(["up", "--port", "0", "--no-demo", "--data", second.dataDir], {
      cwd: second.dataDir,
      env,
    });
    expect(refused.err).toMatch(
      /the gateway .* uses this PostgreSQL store; stop it, or give this one another schema/,
    );
    const missing = await mcpx(["token", "list", "--data", dataDir], { cwd: dataDir });
    expect(missing.err).toMatch(/the environment variable STORE_PASSWORD is not set/);
    const said = [...gateway.out, ...gateway.err, refused.err, refused.out].join("\n");
    expect(said).not.toContain("of tests");
    await end(gateway);
  },
);

test("a configuration is shown and judged without what its store's address keeps secret", async () => {
  const dataDir = scratch();
  const path = join(dataDir, "mcpx.json");
  const run = (...args: string[]) => mcpx([...args, path, "--data", dataDir], { cwd: dataDir });
  const write = (store: unknown, more: object = {}) =>
    writeFileSync(path, JSON.stringify({ store, ...more }));
  write("postgres://ada:hush-hush@one,two:5433/mcpx?schema=s", { storeKey: "A".repeat(43) });
  const shown = await run("config", "print", "--json");
  expect(shown.out).not.toMatch(/hush|A{43}/);
  expect(shown.out).toMatch(/postgres:\/\/ada:.*@one,two:5433\/mcpx\?schema=s/);
  expect(await run("config", "check")).toMatchObject({ code: 0 });
  write("postgres://ada:hush-hush@one/mcpx?sslmode=require");
  expect((await run("config", "check")).err).toMatch(/store: the address .* sslmode=require does not check/);
  for (const wrong of ["mysql://ada:hush-hush@one/mcpx", 7]) {
    write(wrong);
    const judged = await run("config", "check");
    expect(judged).toMatchObject({
      code: 1,
      err: expect.stringMatching(/store: expected the address of a PostgreSQL/),
    });
    expect(judged.err).not.toContain("hush");
  }
  write("${file:/run/secrets/store}");
  expect(await run("config", "check"), "control").toMatchObject({ code: 0 });
});

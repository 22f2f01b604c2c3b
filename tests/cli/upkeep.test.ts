// Keys, tokens, backup and audit beside a running gateway and without one.
import { cpSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { mcpx, scratch, start, up } from "./support/mcpx-process.ts";

test("key files are their owner's alone, and show tells only the public part", async () => {
  const dataDir = scratch();
  const made = JSON.parse((await mcpx(["key", "new", "--unsealed", "--json", "--data", dataDir])).out);
  expect(made.file).toBe(join(dataDir, "keys", "default.jwk"));
  expect(statSync(made.file).mode & 0o777).toBe(0o600);
  const { d } = JSON.parse(readFileSync(made.file, "utf8")) as { d: string };
  const shown = await mcpx(["key", "show", "--data", dataDir]);
  expect(shown.out.split("\n")).toEqual([JSON.stringify(made.jwk), made.thumbprint]);
  expect(shown.out).not.toContain(d);
  expect((await mcpx(["key", "new", "--unsealed", "--data", dataDir])).code).toBe(1);
});

test("[X1-7.1-2] a token can be bound to a key, and holds no private part of it", async () => {
  const dataDir = scratch();
  const { file, jwk } = JSON.parse(
    (await mcpx(["key", "new", "--unsealed", "--json", "--data", dataDir])).out,
  );
  const { out } = await mcpx(["token", "--topic", "demo", "--id", "a", "--key", file, "--data", dataDir]);
  const claims = JSON.parse(Buffer.from(out.split(".")[1] ?? "", "base64url").toString());
  expect(claims.cnf).toEqual({ jwk });
});

test("a token minted before the first start counts after it, also when the key was rotated", async () => {
  const dataDir = join(scratch(), "new");
  const { out: token, err } = await mcpx(["token", "--topic", "demo", "--id", "a", "--data", dataDir]);
  expect(err).toBe(`mcpx: new data directory ${dataDir}`);
  expect((await mcpx(["token", "rotate", "--data", dataDir])).out).toMatch(/^new signing key /);
  await up(dataDir);
  expect(await mcpx(["say", "demo", "hi", "--token", token, "--data", dataDir])).toMatchObject({ code: 0 });
});

test("tokens are listed and revoked with a gateway and without", async () => {
  const dataDir = scratch();
  const mint = async (id: string) =>
    JSON.parse((await mcpx(["token", "--topic", "demo", "--id", id, "--json", "--data", dataDir])).out)
      .jti as string;
  const first = await mint("first");
  expect((await mcpx(["token", "revoke", first, "--data", dataDir])).out).toBe(`revoked ${first}`);
  expect((await mcpx(["token", "list", "--data", dataDir])).out).toMatch(
    new RegExp(`^ID +STATE +WHOSE +RIGHTS +ROOMS\n${first} {2}revoked {2}first {2}- {7}demo$`),
  );
  await up(dataDir);
  const second = await mint("second");
  await mcpx(["token", "revoke", second, "--data", dataDir]);
  const { tokens } = JSON.parse((await mcpx(["token", "list", "--json", "--data", dataDir])).out);
  for (const jti of [first, second]) {
    expect(tokens).toContainEqual(expect.objectContaining({ jti, revokedAt: expect.any(String) }));
  }
});

test("a token is revoked by the beginning of its id where that is clear, and never by a slip", {
  timeout: 120_000,
}, async () => {
  const dataDir = scratch();
  const data = ["--data", dataDir];
  const { jti } = JSON.parse((await mcpx(["token", "--topic", "demo", "--id", "a", "--json", ...data])).out);
  const twins = ["feed0000-0000-4000-8000-000000000001", "feed1111-0000-4000-8000-000000000002"];
  const db = new DatabaseSync(join(dataDir, "state.db"));
  for (const twin of twins) {
    db.prepare(
      "INSERT INTO issued_tokens SELECT ?, sub, claims, iat, exp, kid FROM issued_tokens LIMIT 1",
    ).run(twin);
  }
  db.close();
  const revoke = (id: string) => mcpx(["token", "revoke", id, ...data]);
  const revokedIds = async () => {
    const { tokens } = JSON.parse((await mcpx(["token", "list", "--json", ...data])).out);
    return tokens.filter((token: { revokedAt: unknown }) => token.revokedAt !== null);
  };
  const none = (id: string) => ({
    code: 1,
    err: `mcpx: there is no token with the id ${id}; see npx mcpx token list`,
  });
  for (const slip of ["nobody", jti.slice(0, 3), `${jti.slice(0, 30)}-`, "00000000-0000-4000-8000"]) {
    expect(await revoke(slip)).toMatchObject(none(slip));
  }
  expect(await revoke("feed")).toMatchObject({
    code: 2,
    err: `mcpx: several tokens start with feed: ${twins.join(", ")}; write more characters of the id`,
  });
  expect(await revokedIds()).toEqual([]);
  expect(await revoke(jti.slice(0, 8))).toMatchObject({ code: 0, out: `revoked ${jti}` });
  expect(await revokedIds()).toMatchObject([{ jti }]);
  await up(dataDir);
  expect((await revoke("feed1")).out).toBe(`revoked ${twins[1]}`);
  expect((await revoke("order-7731-for-alice")).out).toBe(
    "revoked order-7731-for-alice, which was not issued here",
  );
});

test("tokens that mcpx makes for itself are left out of the list unless asked for", {
  timeout: 120_000,
}, async () => {
  const dataDir = scratch();
  const data = ["--data", dataDir];
  await up(dataDir);
  await mcpx(["token", "--topic", "demo", "--id", "alice", ...data]);
  // A name alone hides nothing.
  await mcpx(["token", "--id", "cli:long", "--admin", "--ttl", "30d", ...data]);
  for (const _ of [1, 2]) expect((await mcpx(["grants", ...data])).code).toBe(0);
  const listed = await mcpx(["token", "list", ...data]);
  expect(listed.out.split("\n").map((line) => line.split(/ {2,}/)[2])).toEqual(
    expect.arrayContaining(["WHOSE", "alice", "cli:long"]),
  );
  expect(listed.out.split("\n")).toHaveLength(3);
  expect(listed.err).toBe("2 short-lived ones of mcpx itself are left out; --all shows them");
  const all = await mcpx(["token", "list", "--all", ...data]);
  expect(all.out.split("\n")).toHaveLength(5);
  expect(all.err).toBe("");
  const { tokens, left } = JSON.parse((await mcpx(["token", "list", "--limit", "1", "--json", ...data])).out);
  expect([tokens.length, left]).toEqual([1, 2]);
});

test("a new key says what it is and what to do with it, and a name that is taken says so", async () => {
  const dataDir = scratch();
  const data = ["--data", dataDir];
  const made = await mcpx(["key", "new", "--unsealed", ...data]);
  expect(made.out).toMatch(/^key {9}\S+default\.jwk\nthumbprint {2}\S{43}$/);
  expect(made.err).toBe(
    "every program that runs as you can sign with it\nto decide about calls with it: npx mcpx key enroll NAME --unsealed",
  );
  const other = join(dataDir, "other.jwk");
  expect((await mcpx(["key", "new", "--out", other, "--unsealed", ...data])).err).toMatch(
    /enroll NAME --key \S+other\.jwk --unsealed$/,
  );
  expect((await mcpx(["key", "enroll", "me", "--unsealed", ...data])).code).toBe(0);
  expect(await mcpx(["key", "enroll", "me", "--key", other, "--unsealed", ...data])).toMatchObject({
    code: 1,
    err: `mcpx: there is already an approver called me; take another name, or remove it with npx mcpx key remove me`,
  });
});

test("who grants to themselves is told that, and who can", async () => {
  const dataDir = scratch();
  await up(dataDir);
  const data = ["--data", dataDir];
  await mcpx(["key", "new", "--unsealed", ...data]);
  await mcpx(["key", "enroll", "alice", "--unsealed", ...data]);
  const grant = (who: string) =>
    mcpx(["grants", "add", who, "board.release", "--uses", "1", "--yes", ...data]);
  expect(await grant("alice")).toMatchObject({ code: 1, err: expect.stringMatching(/approves their own/) });
  expect(await grant("agent")).toMatchObject({ code: 0 });
});

test("the audit says what was done, and notices when it was changed", async () => {
  const dataDir = scratch();
  const gateway = await up(dataDir);
  await mcpx(["token", "--topic", "demo", "--id", "alice", "--data", dataDir]);
  const live = await mcpx(["audit", "--verify", "--action", "token.issue", "--data", dataDir]);
  expect(live.code).toBe(0);
  expect(live.out).toMatch(/token\.issue {2}issued {2}cli:\S+ → alice/);
  expect(live.out).toMatch(/the chain is whole: 1 records/);
  gateway.kill("SIGTERM");
  await gateway.ended;
  expect((await mcpx(["audit", "--verify", "--data", dataDir])).code).toBe(0);
  const db = new DatabaseSync(join(dataDir, "state.db"));
  db.exec("UPDATE audit SET subject = 'bob' WHERE seq = 1");
  db.close();
  expect(await mcpx(["audit", "--verify", "--data", dataDir])).toMatchObject({
    code: 1,
    err: "mcpx: the audit chain is broken at record 1; a record was changed; compare with a backup",
  });
});

test("a backup made while people talk opens as the room was, and says so", async () => {
  const dataDir = scratch();
  const copy = join(scratch(), "monday");
  const restored = join(scratch(), "restored");
  await up(dataDir);
  const { epoch } = JSON.parse((await mcpx(["say", "demo", "before", "--json", "--data", dataDir])).out);
  const talker = start(["say", "demo", "meanwhile", "--data", dataDir]);
  const made = await mcpx(["backup", copy, "--json", "--data", dataDir]);
  await talker.ended;
  const { files } = JSON.parse(made.out) as { files: { file: string; bytes: number }[] };
  expect(files.map(({ file }) => file).slice(0, 2)).toEqual(["state.db", "topics.db"]);
  for (const { file, bytes } of files) {
    expect(statSync(join(copy, file))).toMatchObject({ size: bytes });
    expect(statSync(join(copy, file)).mode & 0o777).toBe(0o600);
  }
  await mcpx(["say", "demo", "after", "--data", dataDir]);
  const verified = await mcpx(["backup", "--verify", copy]);
  expect(verified).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^state.db +sound +audit chain whole/),
  });

  cpSync(copy, restored, { recursive: true });
  await up(restored);
  const { out } = await mcpx(["tail", "demo", "--json", "--no-follow", "--data", restored]);
  const [welcome, ...recent] = out.split("\n").map((line) => JSON.parse(line));
  expect(recent[0].payload.text).toBe("before");
  expect(recent.map(({ payload }) => payload.text)).not.toContain("after");
  // Numbers given after the copy was made mean something else there: nobody may resume by them.
  expect(welcome.payload.history.epoch).not.toBe(epoch);
});

test("a backup overwrites nothing, and a damaged one is noticed", async () => {
  const dataDir = scratch();
  const copy = join(scratch(), "copy");
  await mcpx(["token", "--topic", "demo", "--id", "a", "--data", dataDir]);
  expect((await mcpx(["backup", copy, "--data", dataDir])).code).toBe(0);
  const again = await mcpx(["backup", copy, "--data", dataDir]);
  expect(again).toMatchObject({
    code: 1,
    err: expect.stringContaining("exists already; choose a new directory"),
  });
  const bytes = readFileSync(join(copy, "state.db"));
  writeFileSync(join(copy, "state.db"), bytes.fill(0x5a, 4_096));
  const damaged = await mcpx(["backup", "--verify", copy]);
  expect(damaged).toMatchObject({ code: 1, err: "mcpx: state.db is damaged; use another backup" });
  expect((await mcpx(["backup", join(scratch(), "x"), "--data", scratch()])).err).toContain(
    "there is nothing to copy",
  );
  expect((await mcpx(["backup", "--verify", scratch()])).err).toContain("there is no backup in");
});

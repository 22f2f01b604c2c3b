// A room from the terminal: token, tail, say, and what ends them.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { mcpx, scratch, start, up } from "./support/mcpx-process.ts";

test("what one says the other sees, and history shows it later", async () => {
  const dataDir = scratch();
  await up(dataDir);
  const watcher = start(["tail", "demo", "--data", dataDir]);
  await watcher.line(/^-- demo as cli-[A-Za-z0-9._-]+-[0-9a-f]{4}, nobody else is there; Ctrl-C ends$/);
  const said = await mcpx(["say", "demo", "Hello,", "room", "--id", "alice", "--data", dataDir]);
  expect(said).toEqual({ code: 0, out: "seq 1", err: "" });
  expect(await watcher.line(/chat/)).toMatch(/^\d\d:\d\d:\d\d {2}alice {2}chat {2}Hello, room$/);
  await watcher.line(/presence {2}alice left/);
  watcher.kill("SIGINT");
  expect(await watcher.ended).toEqual({ code: 0, signal: null });
  const later = await mcpx(["tail", "demo", "--no-follow", "--data", dataDir]);
  expect(later.out).toMatch(/^\d\d:\d\d:\d\d {2}alice {2}chat {2}Hello, room$/);
});

test("--json prints envelopes one per line, those of before too", async () => {
  const dataDir = scratch();
  await up(dataDir);
  const { out } = await mcpx(["say", "demo", "--json", "--data", dataDir, "--", "-1", "is negative"]);
  const said = JSON.parse(out) as { id: string; seq: number; epoch: string };
  expect(said).toMatchObject({ seq: 1, epoch: expect.any(String), at: expect.any(String) });
  const lines = (await mcpx(["tail", "demo", "--json", "--no-follow", "--data", dataDir])).out.split("\n");
  const [welcome, first, ...rest] = lines.map((line) => JSON.parse(line));
  expect(welcome.payload).toMatchObject({ event: "welcome", history: { seq: 1, envelopes: [] } });
  expect(first).toMatchObject({ id: said.id, seq: 1, kind: "chat", payload: { text: "-1 is negative" } });
  expect(rest).toEqual([]);
});

test("a stranger's escape codes do not reach the terminal", async () => {
  const dataDir = scratch();
  await up(dataDir);
  await mcpx(["say", "demo", "\u001b[2Jgone\nfake line", "--data", dataDir]);
  const { out } = await mcpx(["tail", "demo", "--no-follow", "--data", dataDir]);
  expect(out).toContain("\\u001b[2Jgone ⏎ fake line");
  expect(out.split("\n")).toHaveLength(1);
});

test("a watcher comes back after a restart and has missed nothing", async () => {
  const dataDir = scratch();
  const first = await up(dataDir);
  const watcher = start(["tail", "demo", "--data", dataDir]);
  await watcher.line(/^-- demo as/);
  first.kill("SIGKILL");
  await watcher.line(/connection lost, trying again in/);
  await up(dataDir);
  await mcpx(["say", "demo", "while you were away", "--data", dataDir]);
  await watcher.line(/chat {2}while you were away/);
  expect(watcher.err).toContain("-- back, nothing was missed");
});

test("[X0-5.1-3] a revoked token ends a live watcher with a clear line", async () => {
  const dataDir = scratch();
  await up(dataDir);
  const minted = await mcpx(["token", "--topic", "demo", "--id", "eve", "--json", "--data", dataDir]);
  const { token, jti } = JSON.parse(minted.out) as { token: string; jti: string };
  const watcher = start(["tail", "demo", "--data", dataDir], { env: { MCPX_TOKEN: token } });
  await watcher.line(/^-- demo as eve/);
  expect(await mcpx(["token", "revoke", jti, "--data", dataDir])).toMatchObject({
    code: 0,
    out: expect.stringContaining(`revoked ${jti}`),
  });
  expect(await watcher.ended).toEqual({ code: 1, signal: null });
  expect(watcher.err.at(-1)).toBe("mcpx: the token was revoked (4401); get a new one with npx mcpx token");
  const again = await mcpx(["tail", "demo", "--data", dataDir], { env: { MCPX_TOKEN: token } });
  expect(again).toMatchObject({ code: 1, err: expect.stringMatching(/^mcpx: The token was revoked/) });
});

test("[X0-5.1-2] a token that ends is replaced without leaving the room, where a new one can be made", async () => {
  const dataDir = scratch();
  // Warned of at once, since it is longer than the life of the token.
  writeFileSync(join(dataDir, "mcpx.json"), '{ "limits": { "tokenWarningMs": 3600000 } }');
  await up(dataDir);
  const watcher = start(["tail", "demo", "--json", "--data", dataDir]);
  await watcher.line(/"event":"token_expiring"/);
  const ack = JSON.parse(await watcher.line(/"event":"ack"/));
  expect(ack.payload.exp * 1_000).toBeGreaterThan(Date.now());
  expect(watcher.out.filter((line) => line.includes('"event":"welcome"'))).toHaveLength(1);
});

test("[X0-5.1-2] a given token that ends, ends the watcher with a clear line", async () => {
  const dataDir = scratch();
  await up(dataDir);
  const minted = await mcpx(["token", "--topic", "demo", "--id", "eve", "--ttl", "10s", "--data", dataDir]);
  const watcher = start(["tail", "demo", "--token", minted.out, "--data", dataDir]);
  expect((await watcher.ended).code).toBe(1);
  expect(watcher.err.at(-1)).toBe("mcpx: the token has expired (4401); get a new one with npx mcpx token");
});

test("a token counts in its own rooms only, and for another gateway by --url", async () => {
  const dataDir = scratch();
  const { url } = await up(dataDir);
  const minted = await mcpx(["token", "--topic", "team/*", "--id", "bob", "--data", dataDir]);
  expect(minted.out).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
  const access = ["--url", url, "--token", minted.out];
  expect(await mcpx(["say", "team/a", "hi", ...access])).toMatchObject({ code: 0, out: "seq 1" });
  expect((await mcpx(["say", "demo", "hi", "--url", url, "--token", "foo"])).err).toBe(
    "mcpx: No valid token: not a compact JWS; make one with npx mcpx token --topic demo --id NAME",
  );
  expect(await mcpx(["say", "demo", "hi", ...access])).toMatchObject({
    code: 1,
    err: "mcpx: This token does not cover the topic; Get a token for this topic",
  });
});

test("[X0-6-1] being replaced ends a watcher with a clear line", async () => {
  const dataDir = scratch();
  await up(dataDir);
  const watcher = start(["tail", "demo", "--id", "alice", "--data", dataDir]);
  await watcher.line(/^-- demo as alice/);
  await mcpx(["say", "demo", "it is me", "--id", "alice", "--data", dataDir]);
  expect((await watcher.ended).code).toBe(1);
  expect(watcher.err.at(-1)).toBe(
    "mcpx: another connection took this id's place (replaced, 4409); use another --id",
  );
});

test("who was removed is told so, not left to try for ever", async () => {
  const dataDir = scratch();
  const { url } = await up(dataDir);
  const watcher = start(["tail", "demo", "--id", "mallory", "--data", dataDir]);
  await watcher.line(/^-- demo as mallory/);
  const { out: admin } = await mcpx(["token", "--id", "ops", "--admin", "--data", dataDir]);
  const headers = { authorization: `Bearer ${admin}` };
  await fetch(`${url}/admin/participants/mallory`, { method: "DELETE", headers });
  expect((await watcher.ended).code).toBe(1);
  expect(watcher.err.at(-1)).toBe("mcpx: the gateway refused the connection (kicked, 4403); ask an admin");
  const again = await mcpx(["tail", "demo", "--id", "mallory", "--data", dataDir]);
  expect(again).toMatchObject({
    code: 1,
    err: "mcpx: An admin has removed you from this room; Ask an admin to set your level again",
  });
});

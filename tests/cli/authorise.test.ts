// A server that wants one authorisation for everybody, from the terminal: the operator is told where to open it, in the
// tree and by the doctor, until it is done.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { startAuthorizationServer } from "../tree/credentials/support/authorization-server.ts";
import { startNotesServer } from "../tree/credentials/support/notes-server.ts";
import { mcpx, scratch, up } from "./support/mcpx-process.ts";

async function stage() {
  const issuer = await startAuthorizationServer();
  const notes = await startNotesServer(issuer, "modern");
  const dir = scratch();
  // Whoever lists does not wait for a person.
  const mcpServers = { team: { url: notes.url, listTimeout: "1s" } };
  writeFileSync(join(dir, "mcpx.json"), JSON.stringify({ mcpServers }));
  const gateway = await up(dir, [], { cwd: dir });
  onTestFinished(async () => {
    gateway.kill("SIGTERM");
    await gateway.ended;
    await notes.stop();
    await issuer.stop();
  });
  return { gateway, run: (...args: string[]) => mcpx([...args, "--data", dir], { cwd: dir }) };
}

test("where to authorise is shown to operators until it is done, and to nobody else", {
  timeout: 90_000,
}, async () => {
  const { run } = await stage();
  const drawn = await run("tree");
  expect(drawn.out).toMatch(/0 of 1 server is up, 1 needs authorisation/);
  const [, address = ""] = /needs authorisation: open (http:\S+)/.exec(drawn.out) ?? [];
  expect(URL.parse(address)?.searchParams.get("state")).toMatch(/^[\w-]{43}$/);
  expect(drawn.out).not.toContain("did not list");

  const { out: token } = await run("token", "--id", "mallory", "--tools", "**");
  const seen = await run("tree", "--token", token);
  expect(seen.out).toContain("needs authorisation");
  expect(seen.out).not.toContain("state=");

  expect((await run("doctor")).out).toContain(`server team: needs authorisation: open ${address}`);
  // It stays the same one until somebody has been there.
  expect((await run("tree")).out).toContain(address);
  expect((await fetch(address)).status).toBe(200);
  await expect
    .poll(async () => (await run("tree")).out, { timeout: 20_000 })
    .toContain("1 of 1 server is up");
});

test("a gateway that is ended waits for nobody's authorisation", { timeout: 60_000 }, async () => {
  const { gateway, run } = await stage();
  await expect
    .poll(async () => (await run("tree")).out, { timeout: 30_000 })
    .toContain("needs authorisation");
  gateway.kill("SIGTERM");
  expect(await Promise.race([gateway.ended, setTimeout(15_000, "still there")])).not.toBe("still there");
});

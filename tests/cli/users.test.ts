// Users who sign in to servers themselves, from the terminal: the way to it, who has, and out again.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { programArgs } from "../support/programs.ts";
import { startAuthorizationServer } from "../tree/credentials/support/authorization-server.ts";
import { openCookieBrowser } from "../tree/credentials/support/cookie-browser.ts";
import { startNotesServer } from "../tree/credentials/support/notes-server.ts";
import { mcpx, scratch, up } from "./support/mcpx-process.ts";

async function stage() {
  const issuer = await startAuthorizationServer();
  const notes = await startNotesServer(issuer, "modern");
  const dir = scratch();
  const tiny = { command: process.execPath, args: programArgs("tests/cli/support/tiny-server.ts") };
  const mcpServers = { notes: { url: notes.url, oauth: { per: "user" } }, tiny };
  const gates = { rules: [{ tools: "**", action: "allow" }] };
  writeFileSync(join(dir, "mcpx.json"), JSON.stringify({ mcpServers, gates }));
  const gateway = await up(dir, [], { cwd: dir });
  onTestFinished(async () => {
    gateway.kill("SIGTERM");
    await gateway.ended;
    await notes.stop();
    await issuer.stop();
  });
  return (...args: string[]) => mcpx([...args, "--data", dir], { cwd: dir });
}

test("mcpx shows where to sign in, who has, and signs out again", { timeout: 90_000 }, async () => {
  const run = await stage();
  expect(await run("users", "notes")).toMatchObject({
    code: 0,
    out: "",
    err: "nobody has signed in to notes",
  });
  const asked = await run("call", "notes.read", "--yes");
  const address = /http:\/\/\S+\/oauth\/start\/[\w-]{43}/.exec(asked.out + asked.err)?.[0] ?? "";
  const drawn = await run("tree");
  expect(drawn.out).toContain("needs sign-in");
  expect(drawn.out).toContain(`sign in at ${address}`);
  const browser = openCookieBrowser("alice");
  expect((await browser.press(await browser.open(address))).status).toBe(200);
  expect((await run("call", "notes.read", "--yes")).out).toContain("the secret of alice");
  const { out: user } = await run("users", "notes");
  expect(user).toMatch(/^cli:/);
  expect(JSON.parse((await run("users", "notes", "--json")).out)).toEqual({ server: "notes", users: [user] });
  expect((await run("tree")).out).toContain("1 user is signed in");
  const examined = await run("doctor");
  expect(examined.out).toContain("users sign in to it themselves; 1 user signed in");
  expect(await run("users", "sign-out", "notes")).toMatchObject({ code: 2 });
  expect(await run("users", "sign-out", "notes", "--user", "nobody")).toMatchObject({
    code: 1,
    err: `mcpx: nobody is not signed in to notes; there are: ${user}`,
  });
  expect(await run("users", "sign-out", "notes", "--user", user)).toMatchObject({
    code: 0,
    out: `${user} is signed out of notes`,
  });
  expect((await run("call", "notes.read", "--yes")).out).not.toContain("the secret");
  expect(await run("users", "sign-out", "notes", "--user", user)).toMatchObject({
    code: 1,
    err: `mcpx: ${user} is not signed in to notes; nobody is`,
  });
  expect(await run("users", "mail")).toMatchObject({
    code: 1,
    err: "mcpx: there is no server mail; there are: notes, tiny",
  });
  expect(await run("users", "tiny")).toMatchObject({
    code: 1,
    err: "mcpx: users do not sign in to tiny themselves; they sign in to: notes",
  });
});

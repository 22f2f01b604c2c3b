// Servers added, imported and removed at the console: exactly as the command line does it, and only what was shown.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { newHome, secret } from "../cli/support/client-homes.ts";
import { mcpx, scratch } from "../cli/support/mcpx-process.ts";
import { startTestServer } from "../support/test-server.ts";
import { type ConsoleGateway, enter, startGateway } from "./support/gateway.ts";
import { type Visitor, visit, visitBy } from "./support/visitor.ts";

const tiny = join(import.meta.dirname, "../cli/support/tiny-server.ts");
const token = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
const api = "/console/api";

const addTiny = {
  type: "add",
  name: "tiny",
  words: [process.execPath, tiny, "--label", "a b"],
  env: [`GITHUB_TOKEN=${token}`, "COLOUR=blue"],
  header: [],
};

const preview = (visitor: Visitor, change: object) =>
  visitor.call("POST", `${api}/servers/preview`, { body: { change } });
const make = (visitor: Visitor, change: object, digest: unknown) =>
  visitor.call("POST", `${api}/servers/change`, { body: { change, digest } });
/** Shown, then made. */
async function change(visitor: Visitor, wish: object) {
  const shown = await preview(visitor, wish);
  expect(shown.status, JSON.stringify(shown.body)).toBe(200);
  const made = await make(visitor, wish, shown.body.digest);
  expect(made.status, JSON.stringify(made.body)).toBe(201);
  return { shown: shown.body, made: made.body };
}
const configOf = ({ dataDir }: ConsoleGateway) => join(dataDir, "mcpx.json");
const reasonOf = ({ body }: { body: Record<string, unknown> }) =>
  (body.error as { reason?: string } | undefined)?.reason;
const messageOf = ({ body }: { body: Record<string, unknown> }) =>
  String((body.error as { message?: string } | undefined)?.message);
async function serversOf(visitor: Visitor): Promise<{ name: string; state: string; tools: number }[]> {
  const { body } = await visitor.call("GET", `${api}/tree`);
  return (body.servers as { name: string; state: string; tools: number }[]).filter(
    ({ name }) => name !== "mcpax",
  );
}

test("[X1-8-1] a server is shown to the letter, then written as `mcpx add` writes it, and started", async () => {
  const gateway = await startGateway(["--no-demo"]);
  const visitor = await enter(gateway);
  expect((await visitor.call("GET", `${api}/servers`)).body).toEqual({
    file: configOf(gateway),
    isNew: true,
    servers: [],
    bridges: [],
    rules: [],
    isDemo: false,
  });
  const shown = await preview(visitor, addTiny);
  expect(shown.body).toMatchObject({
    file: configOf(gateway),
    isNew: true,
    starts: [{ name: "tiny", words: addTiny.words, url: null, env: ["GITHUB_TOKEN", "COLOUR"], headers: [] }],
    leaving: [],
  });
  const lines = (shown.body.lines as { sign: string; text: string }[]).map((one) => one.sign + one.text);
  expect(lines).toContain('+        "COLOUR": "blue"');
  expect(lines.join("\n")).toContain('"GITHUB_TOKEN": "•••"');
  // Looking writes nothing and starts nothing.
  expect(existsSync(configOf(gateway))).toBe(false);
  expect(await serversOf(visitor)).toEqual([]);
  const made = await make(visitor, addTiny, shown.body.digest);
  expect(made).toMatchObject({ status: 201, body: { file: configOf(gateway), backup: null } });
  // The very bytes the command line would have written.
  const other = join(scratch(), "data");
  const { words } = addTiny;
  const env = addTiny.env.flatMap((pair) => ["--env", pair]);
  expect((await mcpx(["add", "tiny", "--data", other, ...env, "--", ...words])).code).toBe(0);
  const text = readFileSync(configOf(gateway), "utf8");
  expect(text).toBe(readFileSync(join(other, "mcpx.json"), "utf8"));
  expect(text).toContain(token);
  expect(statSync(configOf(gateway)).mode & 0o777).toBe(0o600);
  // Taken over at once: no restart, and no waiting for a watcher.
  expect(await serversOf(visitor)).toMatchObject([{ name: "tiny" }]);
  await expect.poll(() => serversOf(visitor)).toMatchObject([{ name: "tiny", state: "up", tools: 7 }]);
  const log = await visitor.call("GET", `${api}/admin/servers/tiny/log`);
  expect(JSON.stringify(log.body)).toContain("tiny is up");
  // The secret went into the file and nowhere else.
  const audit = await visitor.call("GET", `${api}/admin/audit`);
  expect(audit.body.records).toMatchObject(
    expect.arrayContaining([expect.objectContaining({ action: "server.add", subject: "tiny" })]) as object,
  );
  const told = JSON.stringify([shown.body, made.body, audit.body, gateway.err]);
  expect(told).not.toContain(token);
}, 60_000);

test("only what was shown is done: another digest, or another file meanwhile, changes nothing", async () => {
  const gateway = await startGateway(["--no-demo"]);
  const visitor = await enter(gateway);
  const { digest } = (await preview(visitor, addTiny)).body;
  for (const wrong of [undefined, "", "x".repeat(43), { toString: digest }]) {
    expect(reasonOf(await make(visitor, addTiny, wrong))).toBe("bad_request");
  }
  // The digest of one change is not that of another.
  const evil = { ...addTiny, words: [...addTiny.words, "--evil"] };
  expect(messageOf(await make(visitor, evil, digest))).toContain("has changed since the change was shown");
  expect(existsSync(configOf(gateway))).toBe(false);
  writeFileSync(configOf(gateway), '{ "log": { "level": "warn" } }', { mode: 0o600 });
  expect(reasonOf(await make(visitor, addTiny, digest))).toBe("bad_request");
  expect(readFileSync(configOf(gateway), "utf8")).toBe('{ "log": { "level": "warn" } }');
  // The control: what is shown now is what is done now.
  const { made } = await change(visitor, addTiny);
  expect(readdirSync(gateway.dataDir)).toContain(String(made.backup).slice(gateway.dataDir.length + 1));
  expect(JSON.parse(readFileSync(configOf(gateway), "utf8"))).toMatchObject({
    log: { level: "warn" },
    mcpServers: { tiny: { env: { COLOUR: "blue" } } },
  });
}, 60_000);

test("what decides which code runs is shown before yes is said, whatever it looks like", async () => {
  const visitor = await enter(await startGateway(["--no-demo"]));
  const value = "--require=./x_0123456789abcdefghijklmnop.cjs";
  const shown = await preview(visitor, { ...addTiny, env: [`NODE_OPTIONS=${value}`, `A_TOKEN=${value}`] });
  expect(shown.body.starts).toMatchObject([{ env: [`NODE_OPTIONS=${value}`, "A_TOKEN"] }]);
  const url = "https://evil.example.com/mcp?token=evil.example.com";
  const remote = await preview(visitor, { ...addTiny, words: [url], env: [] });
  expect(remote.body.starts).toMatchObject([{ url: "https://evil.example.com/mcp?token=•••" }]);
}, 60_000);

test("a server is removed as `mcpx remove` does it: comments stay, its tools are forgotten", async () => {
  const home = scratch();
  const text = `{
  // ours
  "mcpServers": {
    "tiny": { "command": ${JSON.stringify(process.execPath)}, "args": [${JSON.stringify(tiny)}] }, // goes
    "kept": { "command": "true", "disabled": true, "env": { "API_KEY": "${token}" } }
  }
}
`;
  writeFileSync(join(home, "mcpx.json"), text, { mode: 0o600 });
  const other = scratch();
  writeFileSync(join(other, "mcpx.json"), text, { mode: 0o600 });
  for (const dir of [home, other]) await mcpx(["trust", dir, "--yes", "--data", join(dir, "data")]);
  const gateway = await startGateway([], { home });
  const visitor = await enter(gateway);
  await expect.poll(() => serversOf(visitor)).toMatchObject([{ name: "tiny", tools: 7 }]);
  const { body } = await visitor.call("GET", `${api}/servers`);
  expect(body).toMatchObject({ file: join(home, "mcpx.json"), isNew: false, servers: ["tiny", "kept"] });
  const { shown, made } = await change(visitor, { type: "remove", name: "tiny" });
  expect(shown).toMatchObject({ starts: [], leaving: ["tiny"] });
  expect(JSON.stringify(shown)).not.toContain(token);
  expect(made).toMatchObject({ forgotten: 7 });
  expect(readFileSync(String(made.backup), "utf8")).toBe(text);
  expect((await mcpx(["remove", "tiny", "--data", join(other, "data")], { cwd: other })).code).toBe(0);
  expect(readFileSync(join(home, "mcpx.json"), "utf8")).toBe(readFileSync(join(other, "mcpx.json"), "utf8"));
  expect(readFileSync(join(home, "mcpx.json"), "utf8")).toContain("// ours");
  expect(await serversOf(visitor)).toEqual([]);
  const again = await preview(visitor, { type: "remove", name: "tiny" });
  expect(messageOf(again)).toContain("there is no server tiny");
  // An edit by hand waits for somebody's yes, and the console makes none on top of it.
  writeFileSync(join(home, "mcpx.json"), text, { mode: 0o600 });
  const waiting = await preview(visitor, { type: "remove", name: "tiny" });
  expect([waiting.status, messageOf(waiting)]).toEqual([
    400,
    expect.stringContaining("since it was accepted"),
  ]);
  expect(await serversOf(visitor)).toEqual([]);
}, 60_000);

test("servers of other programs are found without their secrets, chosen, and written as `mcpx import` does", async () => {
  const home = newHome();
  const gateway = await startGateway(["--no-demo"], {
    home: home.dir,
    cwd: home.project,
    env: home.env as Record<string, string>,
  });
  const visitor = await enter(gateway);
  const found = await visitor.call("GET", `${api}/servers/found`);
  const servers = found.body.servers as object[];
  expect(servers.slice(0, 5)).toMatchObject([
    { name: "filesystem", client: "claude-desktop", transport: "stdio" },
    { name: "github", variables: ["GITHUB_PERSONAL_ACCESS_TOKEN"] },
    { name: "sentry", transport: "http" },
    { name: "db", reach: "./db-server --password •••" },
    { name: "github-2", takenBy: "github of claude-desktop" },
  ]);
  expect(JSON.stringify(found.body)).not.toContain(secret);
  expect(existsSync(configOf(gateway))).toBe(false);
  const wish = { type: "import", names: ["sentry", "github-2"], unannotated: "ask" };
  const shown = await preview(visitor, wish);
  expect(shown.body.starts).toMatchObject([
    { name: "sentry" },
    { name: "github-2", headers: ["Authorization"] },
  ]);
  expect(JSON.stringify(shown.body)).not.toContain(secret);
  // A command is shown whole, with what would be hidden elsewhere: it is what is run.
  const db = await preview(visitor, { type: "import", names: ["db"] });
  expect(db.body.starts).toMatchObject([{ words: ["./db-server", "--password", "hunter2"] }]);
  for (const names of [[], ["nobody"], ["sentry", "nobody"]]) {
    expect(messageOf(await preview(visitor, { ...wish, names }))).toContain("is no longer there");
  }
  expect((await make(visitor, wish, shown.body.digest)).status).toBe(201);
  const { mcpServers } = JSON.parse(readFileSync(configOf(gateway), "utf8"));
  expect(Object.keys(mcpServers)).toEqual(["sentry", "github-2"]);
  expect(mcpServers.sentry.unannotated).toBe("ask");
  const left = (await visitor.call("GET", `${api}/servers/found`)).body.left;
  expect(left).toMatchObject(
    expect.arrayContaining([expect.objectContaining({ why: "is here already, as sentry" })]) as object,
  );
}, 60_000);

describe("[X0-9-2] who is not at the page changes nothing", () => {
  test("no session, half a session, another origin; the control may", async () => {
    const gateway = await startGateway(["--no-demo"]);
    const visitor = await enter(gateway);
    const { digest } = (await preview(visitor, addTiny)).body;
    const body = { change: addTiny, digest };
    const strangers: [number, Record<string, string>][] = [
      [401, { cookie: "" }],
      [401, { "x-mcpx-console": "" }],
      [401, { "x-mcpx-console": "A".repeat(43) }],
      [403, { origin: "http://evil.example" }],
      [403, { origin: "http://127.0.0.1:1" }],
      [403, { "sec-fetch-site": "same-site" }],
    ];
    for (const [status, headers] of strangers) {
      for (const path of ["preview", "change"]) {
        const answer = await visitor.call("POST", `${api}/servers/${path}`, { body, headers });
        expect([headers, path, answer.status]).toEqual([headers, path, status]);
      }
      const found = await visitor.call("GET", `${api}/servers/found`, { headers });
      expect([headers, found.status]).toEqual([headers, status]);
    }
    // A token that is no login is none here either, whoever's it is.
    const bearer = await mcpx(["token", "--id", "boss", "--admin", "--data", gateway.dataDir]);
    expect(bearer.code, bearer.err).toBe(0);
    const headers = { cookie: "", authorization: `Bearer ${bearer.out.trim()}` };
    expect((await visitor.call("POST", `${api}/servers/change`, { body, headers })).status).toBe(401);
    // Nor is a login that it makes for itself.
    const answer = await fetch(`${gateway.url}/admin/console-links`, {
      method: "POST",
      headers: { authorization: headers.authorization, "content-type": "application/json" },
      body: "{}",
    });
    const { path } = (await answer.json()) as { path: string };
    const guest = await visitBy(`${gateway.url}${path}`);
    expect((await preview(guest, addTiny)).status).toBe(403);
    const refused = await make(guest, addTiny, digest);
    expect([refused.status, messageOf(refused)]).toEqual([403, expect.stringContaining("came from a token")]);
    expect(existsSync(configOf(gateway))).toBe(false);
    // The control: a link made at the machine.
    const { out } = await mcpx(["console", "--data", gateway.dataDir]);
    const owner = await visitBy(out.trim().replace("localhost", "127.0.0.1"));
    expect((await make(owner, addTiny, digest)).status).toBe(201);
    expect((await mcpx(["console", "--log-out-all", "--data", gateway.dataDir])).code).toBe(0);
    for (const one of [visitor, guest, owner]) {
      expect((await one.call("GET", `${api}/session`)).status).toBe(401);
    }
  }, 60_000);
});

test("wishes that cannot be are refused with what is wrong, and nothing is written", async () => {
  const gateway = await startGateway(["--no-demo"]);
  const visitor = await enter(gateway);
  const wrong: [object, string][] = [
    [{ ...addTiny, type: "replace" }, "change.type must be"],
    [{ ...addTiny, name: "" }, "change.name must be"],
    [{ ...addTiny, name: "../x" }, "cannot be a server's name"],
    [{ ...addTiny, name: "__proto__" }, "cannot be a server's name"],
    [{ ...addTiny, name: "a\u202eb" }, "cannot be a server's name"],
    [{ ...addTiny, words: [] }, "needs a command or an address"],
    [{ ...addTiny, words: [" "] }, "needs a command or an address"],
    [{ ...addTiny, words: "rm -rf" }, "change.words must be"],
    [{ ...addTiny, words: ["a", 7] }, "change.words must be"],
    [{ ...addTiny, words: ["a", "b\0c"] }, "change.words must be"],
    [{ ...addTiny, words: ["a", "\ud800"] }, "change.words must be"],
    [{ ...addTiny, words: Array.from({ length: 1_001 }, () => "x") }, "change.words must be"],
    [{ ...addTiny, words: ["a", "x".repeat(10_001)] }, "change.words must be"],
    [{ ...addTiny, env: [token] }, "--env needs a name and a value"],
    [{ ...addTiny, env: [`A=${token}`, "A=2"] }, "--env A is given twice"],
    [{ ...addTiny, header: [`X: ${token}`] }, "--header is for addresses"],
    [{ ...addTiny, segment: "No Good" }, "segment"],
    [{ ...addTiny, name: "mcpax" }, "belongs to mcpx itself"],
    [{ ...addTiny, unannotated: "maybe" }, "expected ask or allow"],
  ];
  for (const [wish, message] of wrong) {
    const answer = await preview(visitor, wish);
    expect([message, answer.status, messageOf(answer)]).toEqual([
      message,
      400,
      expect.stringContaining(message),
    ]);
    expect(JSON.stringify(answer.body)).not.toContain(token);
  }
  expect(existsSync(configOf(gateway))).toBe(false);
  expect((await preview(visitor, addTiny)).status).toBe(200);
  // Twice is once too often, unless it is said.
  await change(visitor, addTiny);
  expect(messageOf(await preview(visitor, addTiny))).toContain("there is a server tiny");
  expect((await preview(visitor, { ...addTiny, replace: true })).body).toMatchObject({ leaving: ["tiny"] });
  // A file that is wrong is not made worse, and what is secret in it is not told.
  writeFileSync(configOf(gateway), `{ "mcpServers": { "a": { "env": { "API_KEY": ["${token}"] } } } }`);
  const broken = await preview(visitor, { ...addTiny, name: "other" });
  expect(broken.status).toBe(400);
  expect(JSON.stringify(broken.body)).not.toContain(token);
}, 60_000);

test("what the gateway would refuse is refused before it is written, whatever the file itself allows", async () => {
  const home = scratch();
  const config = join(home, "mcpx.json");
  const lamp = { line: "unix:/nowhere/lamp", profile: "b", tools: { set_led: { id: 2 } } };
  const text = JSON.stringify({ devices: { lamp } });
  writeFileSync(config, text, { mode: 0o600 });
  const visitor = await enter(await startGateway(["--config", config], { home }));
  const answer = await preview(visitor, { ...addTiny, name: "lamp" });
  expect([answer.status, messageOf(answer)]).toEqual([400, expect.stringContaining("lamp")]);
  expect((await make(visitor, { ...addTiny, name: "lamp" }, "x")).status).toBe(400);
  expect(readFileSync(config, "utf8")).toBe(text);
  // The control: another name is free.
  await change(visitor, addTiny);
}, 60_000);

test("at the demo it is said what is made where; the first server ends the demo's workshop", async () => {
  const gateway = await startGateway();
  const visitor = await enter(gateway);
  expect((await visitor.call("GET", `${api}/servers`)).body).toMatchObject({ isNew: true, isDemo: true });
  expect((await serversOf(visitor)).map(({ name }) => name)).toContain("workshop");
  // What is not in the configuration cannot be taken out of it.
  const workshop = await preview(visitor, { type: "remove", name: "workshop" });
  expect(messageOf(workshop)).toContain("there is no server workshop");
  const { shown } = await change(visitor, addTiny);
  expect(shown).toMatchObject({ isNew: true, isDemo: true, file: configOf(gateway) });
  expect((await serversOf(visitor)).map(({ name }) => name)).not.toContain("workshop");
  expect((await serversOf(visitor)).map(({ name }) => name)).toContain("tiny");
}, 60_000);

test("a gateway that was not started from a configuration says so", async () => {
  const server = await startTestServer();
  try {
    const visitor = await visit(server);
    const look = await visitor.call("GET", `${api}/servers`);
    expect(look).toMatchObject({ status: 200, body: { file: null } });
    expect(look.body.obstacle).toContain("start it with `mcpx up`");
    for (const answer of [
      await visitor.call("GET", `${api}/servers/found`),
      await preview(visitor, addTiny),
      await make(visitor, addTiny, ""),
    ]) {
      expect(answer.status).toBe(404);
      expect(answer.body.error).toMatchObject({ suggestion: expect.stringContaining("mcpx up") });
    }
  } finally {
    await server.stop();
  }
});

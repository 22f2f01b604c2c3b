// `mcpx doctor`: what is wrong, and the command that mends it.
import { once } from "node:events";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { programPath } from "../support/programs.ts";
import { selfSignedPair } from "../tree/links/support/self-signed.ts";
import { newHome, put } from "./support/client-homes.ts";
import { mcpx, scratch, up } from "./support/mcpx-process.ts";

const tiny = { command: process.execPath, args: [programPath("tests/cli/support/tiny-server.ts")] };

interface Finding {
  about: string;
  state: "ok" | "warning" | "fault";
  text: string;
  fix?: string;
}

/** A machine with a data directory and this configuration in it. */
function machine(config: object | string = {}) {
  const home = newHome([]);
  const dataDir = join(home.dir, "data");
  mkdirSync(dataDir, { mode: 0o700 });
  const path = join(dataDir, "mcpx.json");
  writeFileSync(path, typeof config === "string" ? config : JSON.stringify(config), { mode: 0o600 });
  const run = (args: readonly string[], env: Record<string, string> = {}) =>
    mcpx([...args, "--data", dataDir], { cwd: home.project, env: { ...home.env, ...env } });
  const examine = async (env: Record<string, string> = {}, args: readonly string[] = []) => {
    const { code, out, err } = await run(["doctor", "--json", ...args], env);
    const { ok, findings } = JSON.parse(out) as { ok: boolean; findings: Finding[] };
    expect([code, err]).toEqual([ok ? 0 : 1, ""]);
    const about = (name: string) => findings.filter((finding) => finding.about === name);
    return { ok, findings, about };
  };
  return { home, dataDir, path, run, examine };
}

async function takenPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

test("before the first start all is well, and nothing is made", async () => {
  const home = newHome([]);
  const dataDir = join(home.dir, "none");
  const port = await takenPort();
  const config = join(home.project, "mcpx.json");
  writeFileSync(config, JSON.stringify({ listen: { port } }));
  const options = { cwd: home.project, env: home.env };
  const { code, out } = await mcpx(["doctor", "--data", dataDir, "--config", config], options);
  expect(code).toBe(1);
  expect(out).toMatch(
    /^FAULT {4}gateway: it does not run, and another program uses port \d+ on 127\.0\.0\.1$/m,
  );
  expect(out).toMatch(/mcpx up --port 0/);
  writeFileSync(config, "{}");
  writeFileSync(config, JSON.stringify({ listen: { port: 0 } }));
  expect(await mcpx(["doctor", "--data", dataDir, "--config", config], options)).toMatchObject({
    code: 0,
    out: expect.stringMatching(/All is well\.$/),
  });
  expect(() => readFileSync(dataDir)).toThrow(/ENOENT/);
});

test("a running gateway with a server is well, and the server is started and counted", async () => {
  const { home, dataDir, examine } = machine({ mcpServers: { tiny } });
  const gateway = await up(dataDir, [], { cwd: home.project, env: home.env });
  const { ok, about } = await examine();
  expect(ok).toBe(true);
  expect(about("gateway")).toMatchObject([
    { state: "ok", text: expect.stringMatching(`^version \\S+ runs at ${gateway.url}, pid ${gateway.pid}$`) },
  ]);
  expect(about("signing key")).toMatchObject([{ state: "ok" }]);
  expect(about("server tiny")).toMatchObject([
    { state: "ok", text: expect.stringMatching(/^7 tools in \d+ ms, 7 of them without annotations/) },
  ]);
  expect(about("tools")).toMatchObject([{ state: "ok" }]);
});

test("every broken server has its own fault, and hides no other", { timeout: 60_000 }, async () => {
  const { home, examine } = machine({
    listen: { port: 0 },
    mcpServers: {
      tiny,
      gone: { command: "no-such-command" },
      plain: { command: "./plain.txt" },
      dies: { command: process.execPath, args: ["-e", "console.error('no database'); process.exit(3)"] },
      mute: { command: process.execPath, args: ["-e", "setInterval(() => {}, 1000)"], listTimeout: "1s" },
      far: { url: "http://127.0.0.1:9/mcp" },
      off: { command: "no-such-command", disabled: true },
      unset: { command: "x", env: { KEY: `\${env:NO_SUCH_KEY}`, OTHER: `\${file:no-such-file}` } },
    },
  });
  put(join(home.dir, "data", "plain.txt"), "text");
  const { ok, about, findings } = await examine();
  expect(ok).toBe(false);
  const text = (name: string) => about(`server ${name}`).map((finding) => `${finding.state} ${finding.text}`);
  expect(text("tiny")).toEqual([expect.stringMatching(/^ok 7 tools/)]);
  expect(text("gone")).toEqual(["fault no-such-command is not there or not on PATH"]);
  expect(text("plain")).toEqual(["fault ./plain.txt may not be executed"]);
  expect(text("dies")).toEqual([expect.stringMatching(/^fault .*no database/)]);
  expect(text("mute")).toEqual([expect.stringMatching(/^fault .*did not list within 1000 ms/)]);
  expect(text("far")).toEqual([expect.stringMatching(/^fault .*ECONNREFUSED/)]);
  expect([text("off"), text("unset")]).toEqual([[], []]);
  expect(about("configuration").map((finding) => finding.text)).toEqual([
    "unset: the environment variable NO_SUCH_KEY is not set",
    "unset: no-such-file cannot be read",
  ]);
  for (const { state, fix } of findings) if (state === "fault") expect(fix).toBeTruthy();
});

test("what is wrong with the configuration is told with its place", async () => {
  const { examine, path } = machine('{ "mcpServers": { "a": { "comand": "x" } }, "mode": "strange" }');
  const { ok, about } = await examine();
  expect(ok).toBe(false);
  expect(about("configuration").map(({ text }) => text)).toEqual([
    expect.stringMatching(/mcpx\.json:1:\d+ mcpServers\.a: needs exactly one/),
    expect.stringMatching(/comand: unknown key; did you mean/),
    expect.stringMatching(/mode: expected one of/),
  ]);
  writeFileSync(
    path,
    JSON.stringify({ mcpServers: { a: { ...tiny, root: true }, b: { ...tiny, root: true } } }),
  );
  expect((await examine()).about("configuration")).toMatchObject([
    { state: "fault", text: expect.stringMatching(/the root belongs to a/) },
  ]);
});

test("files others may read or write are named with the chmod that mends them", async () => {
  const { run, examine, dataDir, path } = machine({
    mcpServers: { a: { url: "http://127.0.0.1:9/", headers: { Authorization: "Bearer sk-hunter2hunter2" } } },
  });
  await run(["token", "--topic", "demo", "--id", "a", "--level", "full"]);
  chmodSync(path, 0o644);
  chmodSync(dataDir, 0o755);
  chmodSync(join(dataDir, "state.db"), 0o640);
  const { about, findings } = await examine();
  expect(about("data")).toMatchObject([
    { state: "warning", fix: `chmod 700 ${dataDir}` },
    { state: "fault", fix: `chmod 600 ${join(dataDir, "state.db")}` },
  ]);
  expect(about("configuration")).toMatchObject([{ state: "warning", fix: `chmod 600 ${path}` }]);
  expect(JSON.stringify(findings)).not.toContain("hunter2");
  chmodSync(dataDir, 0o777);
  expect((await examine()).about("data")[0]).toMatchObject({
    state: "fault",
    fix: expect.stringContaining(`chmod 700 ${dataDir}`),
  });
});

test("TLS: files that are missing, of others, or do not belong together", async () => {
  const { examine, dataDir, path } = machine();
  const [one, other] = [selfSignedPair(), selfSignedPair()];
  const configure = (cert: string, key: string, hosts: string[] = []) => {
    writeFileSync(path, JSON.stringify({ listen: { port: 0, tls: { cert, key }, hosts } }));
  };
  put(join(dataDir, "cert.pem"), one.cert);
  put(join(dataDir, "key.pem"), one.key);
  put(join(dataDir, "other.pem"), other.key);
  for (const file of ["key.pem", "other.pem"]) chmodSync(join(dataDir, file), 0o600);
  configure("cert.pem", "key.pem");
  expect((await examine()).about("tls")).toMatchObject([{ state: "ok" }]);
  configure("cert.pem", "other.pem", ["elsewhere.example.com:443"]);
  expect((await examine()).about("tls")).toMatchObject([
    { state: "warning", text: "the certificate is not for elsewhere.example.com" },
    { state: "fault", text: "the key does not belong to the certificate" },
  ]);
  configure("none.pem", "cert.pem");
  expect((await examine()).about("tls")).toMatchObject([
    { state: "fault", text: expect.stringMatching(/none\.pem cannot be read \(ENOENT\)/) },
    { state: "fault", text: expect.stringMatching(/cert\.pem is no PEM/) },
  ]);
});

test("clients with a dead address or a token that does not count are named with connect", {
  timeout: 90_000,
}, async () => {
  const { home, dataDir, run, examine } = machine({ mcpServers: { tiny } });
  const options = { cwd: home.project, env: home.env };
  const gateway = await up(dataDir, [], options);
  for (const client of ["cursor", "vscode", "claude-desktop"]) await run(["connect", client, "--yes"]);
  const well = await examine();
  expect(
    ["cursor", "vscode", "claude-desktop"].map((client) => well.about(`client ${client}`)[0]?.state),
  ).toEqual(["ok", "ok", "ok"]);
  const file = home.path("cursor");
  writeFileSync(file, readFileSync(file, "utf8").replace(new URL(gateway.url).host, "127.0.0.1:9"));
  const issued = JSON.parse((await run(["token", "list", "--json"])).out) as {
    tokens: { jti: string; sub: string }[];
  };
  const { jti = "" } = issued.tokens.find(({ sub }) => sub === "client:vscode") ?? {};
  await run(["token", "revoke", jti]);
  put(home.path("gemini"), "{ broken");
  const { ok, about } = await examine();
  expect(ok).toBe(false);
  expect(about("client cursor")).toMatchObject([
    { state: "fault", text: expect.stringContaining("127.0.0.1:9"), fix: "npx mcpx connect cursor --yes" },
  ]);
  expect(about("client vscode")).toMatchObject([
    { state: "fault", text: "its token is revoked", fix: "npx mcpx connect vscode --yes" },
  ]);
  expect(about("clients")).toMatchObject([{ state: "warning", text: expect.stringMatching(/is not JSON/) }]);
  await run(["connect", "cursor", "--yes"]);
  expect((await examine()).about("client cursor")).toMatchObject([{ state: "ok" }]);
});

test("[X1-8-2] those without a level are listed", async () => {
  const { run, examine } = machine({
    listen: { port: 0 },
    mode: "secure",
    identities: { known: { level: "full" } },
  });
  for (const id of ["nobody", "known"]) await run(["token", "--topic", "demo", "--id", id]);
  await run(["token", "--topic", "demo", "--id", "levelled", "--level", "full"]);
  const { about, ok } = await examine();
  expect(ok).toBe(true);
  expect(about("levels")).toMatchObject([
    {
      state: "warning",
      text: expect.stringMatching(/^1 participant without a level: nobody; they are refused/),
    },
  ]);
});

test("a gateway elsewhere is asked whether it answers", async () => {
  const { examine } = machine({ listen: { port: 0 } });
  const gateway = await up(scratch());
  expect((await examine({}, ["--url", gateway.url])).about("gateway")).toMatchObject([
    { state: "ok", text: `it answers at ${gateway.url}` },
  ]);
  expect((await examine({}, ["--url", "http://127.0.0.1:9"])).about("gateway")).toMatchObject([
    { state: "fault" },
  ]);
});

// `mcpx up` and a configuration that changes while it runs.
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { expect, onTestFinished, test } from "vitest";
import { programPath } from "../support/programs.ts";
import { mcpx, type RunningGateway, scratch, up } from "./support/mcpx-process.ts";
import { isRunning } from "./support/processes.ts";

const root = join(import.meta.dirname, "..", "..");
const tiny = { command: process.execPath, args: [programPath("tests/cli/support/tiny-server.ts")] };
const everything = {
  command: process.execPath,
  args: [join(root, "node_modules/@modelcontextprotocol/server-everything/dist/index.js"), "stdio"],
};

/** A gateway whose configuration is in its data directory. */
async function start(config: object): Promise<RunningGateway & { write(config: object | string): void }> {
  const dataDir = scratch();
  const path = join(dataDir, "mcpx.json");
  // Gates are tested elsewhere: here nothing waits for a human.
  const ungated = (next: object) => JSON.stringify({ gates: { unannotated: "allow" }, ...next });
  const write = (next: object | string) =>
    writeFileSync(path, typeof next === "string" ? next : ungated(next));
  write(config);
  return { ...(await up(dataDir, [], { cwd: scratch() })), write };
}

async function connect({ url, dataDir }: RunningGateway, path = "/mcp?names=canonical"): Promise<Client> {
  const { out: token } = await mcpx(["token", "--id", "agent", "--tools", "**", "--data", dataDir]);
  const client = new Client({ name: "test", version: "1" }, { versionNegotiation: { mode: "legacy" } });
  await client.connect(
    new StreamableHTTPClientTransport(new URL(`${url}${path}`), {
      requestInit: { headers: { authorization: `Bearer ${token.trim()}` } },
    }),
  );
  onTestFinished(() => client.close());
  return client;
}

const namesOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);
const textOf = (result: unknown) => (result as { content: { text: string }[] }).content[0]?.text ?? "";
const said = ({ err }: RunningGateway) =>
  err.map((line) => {
    const { msg, change, fault } = JSON.parse(line) as { msg: string; change?: string; fault?: string };
    return change ?? fault ?? msg;
  });

test("servers come, change and go; calls on others notice nothing, and clients are told", async () => {
  const gateway = await start({ mcpServers: { slow: everything, tiny } });
  const client = await connect(gateway);
  const changes: string[] = [];
  client.setNotificationHandler(
    "notifications/tools/list_changed",
    ({ method }) => void changes.push(method),
  );
  const [pid] = textOf(await client.callTool({ name: "tiny.pids" }))
    .split(" ")
    .map(Number);
  const progress: number[] = [];
  const name = "slow.trigger-long-running-operation";
  const call = client.callTool(
    { name, arguments: { duration: 3, steps: 6 } },
    { onprogress: (step) => void progress.push(step.progress) },
  );
  await expect.poll(() => progress.length, { timeout: 10_000 }).toBeGreaterThan(0);

  gateway.write({
    mcpServers: { slow: everything, more: tiny, tiny: { ...tiny, env: { SECRET: "hunter2" } } },
  });
  await gateway.line(/~ tiny: env.SECRET/);
  expect(said(gateway)).toContain("+ more");
  await expect.poll(() => changes.length, { timeout: 10_000 }).toBeGreaterThan(0);
  expect(await namesOf(client)).toContain("more.params");
  await expect.poll(() => isRunning(pid as number), { timeout: 10_000 }).toBe(false);
  expect(textOf(await client.callTool({ name: "tiny.pids" }))).not.toContain(String(pid));

  gateway.write({ mcpServers: { slow: everything } });
  await gateway.line(/"- tiny"/);
  expect((await namesOf(client)).filter((tool) => !tool.startsWith("slow."))).toEqual([
    "mcpax.ask",
    "mcpax.notifications_dropped",
    "mcpax.routes",
    "mcpax.status",
    "mcpax.subservers",
    "mcpax.wait",
  ]);
  expect(textOf(await call)).toContain("completed");
  expect(progress).toEqual([1, 2, 3, 4, 5, 6]);
  expect(gateway.err.join()).not.toContain("hunter2");
});

test("a bad edit is refused with all its faults, and the old one stays until a good one comes", async () => {
  const gateway = await start({ mcpServers: { tiny } });
  const client = await connect(gateway);
  gateway.write('{ "mcpServers": { "tiny": { "comand": "x" } }, "mode": "strange", "profiles": 1 }');
  await gateway.line(/keeping the old one/);
  expect(said(gateway).filter((line) => /mcpx\.json/.test(line))).toEqual([
    expect.stringMatching(/has 4 faults/),
    expect.stringMatching(/mcpServers\.tiny: needs exactly one of command, url and room/),
    expect.stringMatching(/mcpServers\.tiny\.comand: unknown key; did you mean "?command/),
    expect.stringMatching(/mode: expected one of/),
    expect.stringMatching(/profiles: expected an object/),
  ]);
  gateway.write("{ nonsense");
  await gateway.line(/is not JSON/);
  gateway.write({ mcpServers: { a: { ...tiny, root: true }, b: { ...tiny, root: true } } });
  await gateway.line(/the root belongs to a/);
  expect(await namesOf(client)).toContain("tiny.params");
  gateway.write({ mcpServers: { better: tiny } });
  await gateway.line(/"\+ better"/);
  expect(await namesOf(client)).toContain("better.params");
});

test("what is refused is told without secrets", async () => {
  const gateway = await start({});
  gateway.write(
    '{ "mcpServers": { "a": { "url": "x", "headers": { "Authorization": { "token": "sk-hunter2hunter2" } } } } }',
  );
  await gateway.line(/keeping the old one/);
  expect(gateway.err.join()).not.toContain("hunter2");
});

test("what needs a restart is said to, each time, until it is as it was", async () => {
  const gateway = await start({ mcpServers: {} });
  gateway.write({ mode: "secure", mcpServers: { tiny } });
  await gateway.line(/"key":"mode".*takes effect after a restart/);
  await gateway.line(/"\+ tiny"/);
  gateway.write({ mcpServers: { tiny } });
  await gateway.line(/configuration unchanged/);
  const { url } = gateway;
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
});

test("profiles change under the sessions that use them", async () => {
  const gateway = await start({ mcpServers: { tiny }, profiles: { p: { tools: ["tiny.*"] } } });
  const client = await connect(gateway, "/mcp/p?names=canonical");
  expect(await namesOf(client)).toContain("tiny.crash");
  gateway.write({ mcpServers: { tiny }, profiles: { p: { tools: ["tiny.params"] } } });
  await gateway.line(/~ profile p: tools/);
  expect(await namesOf(client)).toEqual(["tiny.params"]);
  await expect(client.callTool({ name: "tiny.crash" })).rejects.toThrow(/Unknown tool/);
  gateway.write({ mcpServers: { tiny }, profiles: { p: { tools: ["tiny.params"], search: true } } });
  await gateway.line(/~ profile p: search/);
  expect(await namesOf(client)).toEqual(["find_tools", "describe_tool", "call_tool"]);
});

test("a file that comes to be is read, one that is replaced too, and one that is removed changes nothing", async () => {
  const dataDir = scratch();
  const gateway = await up(dataDir, [], { cwd: scratch() });
  await mcpx(["add", "tiny", "--data", dataDir, "--", tiny.command, ...tiny.args], { cwd: scratch() });
  await gateway.line(/"\+ tiny"/);
  const draft = join(dataDir, "draft.json");
  writeFileSync(draft, JSON.stringify({ mcpServers: { other: tiny } }));
  renameSync(draft, join(dataDir, "mcpx.json"));
  await gateway.line(/"\+ other"/);
  rmSync(join(dataDir, "mcpx.json"));
  await gateway.line(/cannot be read \(ENOENT\)/);
  expect(await namesOf(await connect(gateway))).toContain("other.params");
});

test("a file behind links is watched where it is, and where its directory is swapped", async () => {
  const [dataDir, elsewhere] = [scratch(), scratch()];
  const write = (version: string, servers: object) => {
    mkdirSync(join(elsewhere, version), { recursive: true });
    writeFileSync(join(elsewhere, version, "mcpx.json"), JSON.stringify({ mcpServers: servers }));
  };
  write("one", {});
  symlinkSync("one", join(elsewhere, "..data"));
  symlinkSync("..data/mcpx.json", join(elsewhere, "mcpx.json"));
  const config = join(elsewhere, "mcpx.json");
  const gateway = await up(dataDir, ["--config", config], { cwd: scratch() });
  write("one", { a: tiny });
  await gateway.line(/"\+ a"/);
  write("two", { b: tiny });
  symlinkSync("two", join(elsewhere, "..new"));
  renameSync(join(elsewhere, "..new"), join(elsewhere, "..data"));
  await gateway.line(/"\+ b"/);
});

test("SIGHUP reads it again, and does not end it", async () => {
  const gateway = await start({ mcpServers: {} });
  gateway.kill("SIGHUP");
  await gateway.line(/configuration unchanged/);
  expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
});

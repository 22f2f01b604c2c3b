// `mcpx up` from the first start to the last signal.
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { mcpx, scratch, start, up } from "./support/mcpx-process.ts";

test("the first start makes everything it needs and says where it is", async () => {
  const home = scratch();
  const command = start(["up", "--port", "0"], { env: { HOME: home } });
  await command.line(/Ctrl-C stops the gateway/);
  const screen = command.out.join("\n");
  const url = /ready at (http:\/\/127\.0\.0\.1:\d+)$/m.exec(screen)?.[1];
  expect((await fetch(`${url}/readyz`)).status).toBe(200);
  expect(screen).toMatch(/^ {2}console http:\/\/localhost:\d+\/in\/[\w-]{32}$/m);
  expect(screen).toMatch(/^ {2}demo .*--no-demo leaves them out$/m);
  expect(screen).toContain("~/.local/share/mcpx");
  expect(screen).toMatch(/mcpx tail demo$/m);
  expect(screen).toMatch(/mcpx say demo Hello$/m);
  expect(screen.split("\n").length).toBeLessThan(15);
  expect(screen).not.toContain("\u001b");
  const dataDir = join(home, ".local", "share", "mcpx");
  expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  for (const file of ["state.db", "topics.db", "gateway.json", "gateway.lock"]) {
    expect(statSync(join(dataDir, file)).mode & 0o777, file).toBe(0o600);
  }
});

test("--json prints one line when ready, and the log is JSON on standard error", async () => {
  const dataDir = scratch();
  const gateway = await up(dataDir);
  expect(gateway.out).toHaveLength(1);
  expect(gateway.dataDir).toBe(dataDir);
  expect(JSON.parse(readFileSync(join(dataDir, "gateway.json"), "utf8"))).toEqual({
    url: gateway.url,
    pid: gateway.pid,
    names: expect.any(String),
  });
  await mcpx(["say", "demo", "hi", "--data", dataDir]);
  expect(JSON.parse(await gateway.line(/"msg":"participant joined room"/))).toMatchObject({ topic: "demo" });
});

test.each(["SIGTERM", "SIGINT"] as const)("%s ends it cleanly, with connections told", async (signal) => {
  const dataDir = scratch();
  const gateway = await up(dataDir);
  const watcher = start(["tail", "demo", "--json", "--data", dataDir]);
  await watcher.line(/"event":"welcome"/);
  const began = performance.now();
  gateway.kill(signal);
  expect(await gateway.ended).toEqual({ code: 0, signal: null });
  expect(performance.now() - began).toBeLessThan(15_000);
  await watcher.line(/"event":"draining"/);
  await watcher.line(/connection lost, trying again/);
  expect(existsSync(join(dataDir, "gateway.json"))).toBe(false);
  for (const file of ["state.db-wal", "topics.db-wal"])
    expect(existsSync(join(dataDir, file)), file).toBe(false);
});

test("a second signal ends it at once, whoever does not let go", async () => {
  const dataDir = scratch();
  const gateway = await up(dataDir);
  await joinDeaf(gateway.url, dataDir);
  gateway.kill("SIGTERM");
  await gateway.line(/"msg":"stopping/);
  const impatience = setInterval(() => gateway.kill("SIGTERM"), 50);
  const began = performance.now();
  expect(await gateway.ended).toEqual({ code: 143, signal: null });
  clearInterval(impatience);
  expect(performance.now() - began).toBeLessThan(5_000);
});

/** A member that never answers a close, so that the gateway has to wait for it. */
async function joinDeaf(url: string, dataDir: string): Promise<void> {
  const { out: token } = await mcpx(["token", "--topic", "demo", "--id", "deaf", "--data", dataDir]);
  const { hostname, port, host } = new URL(url);
  const socket = connect({ port: Number(port), host: hostname, allowHalfOpen: true });
  onTestFinished(() => void socket.destroy());
  socket.on("error", () => undefined);
  const lines = [
    "GET /v0/ws?topic=demo HTTP/1.1",
    `Host: ${host}`,
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    `Authorization: Bearer ${token}`,
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  const [answer] = await once(socket, "data");
  expect(String(answer)).toMatch(/^HTTP\/1\.1 101/);
}

test("a second gateway on the same data is told who is there", async () => {
  const dataDir = scratch();
  const first = await up(dataDir);
  const { code, err } = await mcpx(["up", "--port", "0", "--data", dataDir]);
  expect(code).toBe(1);
  expect(err).toBe(
    `mcpx: a gateway on ${dataDir} already runs: pid ${first.pid}, ${first.url}; ` +
      "use that one, or another directory with --data DIR",
  );
  expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
});

test("what a killed gateway left behind does not keep the next one out", async () => {
  const dataDir = scratch();
  const first = await up(dataDir);
  first.kill("SIGKILL");
  await first.ended;
  expect(existsSync(join(dataDir, "gateway.json"))).toBe(true);
  expect((await mcpx(["say", "demo", "hi", "--data", dataDir])).err).toContain("no gateway is running");
  const second = await up(dataDir);
  expect((await fetch(`${second.url}/readyz`)).status).toBe(200);
});

test("a port in use is named, with the way to another", async () => {
  const taken = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void taken.close());
  await new Promise((resolve) => taken.once("listening", resolve));
  const { port } = taken.address() as { port: number };
  const { code, err } = await mcpx(["up", "--port", String(port), "--data", scratch()]);
  expect(code).toBe(1);
  expect(err).toBe(
    `mcpx: port ${port} on 127.0.0.1 is in use; stop what uses it, or take any free one with --port 0`,
  );
});

test("[X0-9-2] an address others can reach needs TLS", async () => {
  const { code, err } = await mcpx(["up", "--host", "0.0.0.0", "--port", "0", "--data", scratch()]);
  expect(code).toBe(1);
  expect(err).toMatch(/^mcpx: listen.host 0.0.0.0 is reachable by others: set listen.tls[^\n]*$/);
  expect(err).toMatch(/`npx mcpx cert ca` and `npx mcpx cert server NAME` make one, see docs\/CONFIG\.md$/);
});

test("a wrong configuration starts nothing, and everything wrong is told", async () => {
  const cwd = scratch();
  const dataDir = join(scratch(), "data");
  writeFileSync(join(cwd, "mcpx.json"), '{\n  "lsten": {},\n  "mode": "closed"\n}');
  const args = ["up", "--port", "0", "--data", dataDir, "--config", "mcpx.json"];
  const { code, err } = await mcpx(args, { cwd });
  expect(code).toBe(1);
  expect(err.split("\n")).toEqual([
    `mcpx: ${cwd}/mcpx.json has 2 faults:`,
    `  ${cwd}/mcpx.json:2:3 lsten: unknown key; did you mean listen?`,
    `  ${cwd}/mcpx.json:3:3 mode: expected one of "mixed", "secure", "open"; found "closed"`,
  ]);
  expect(existsSync(dataDir)).toBe(false);
});

test("[X1-6.1-1] open mode is what the configuration says, and only then", async () => {
  const dataDir = scratch();
  writeFileSync(join(dataDir, "mcpx.json"), '{ "mode": "open" /* everybody may everything */ }');
  await up(dataDir);
  const tail = await mcpx(["tail", "demo", "--no-follow", "--json", "--data", dataDir]);
  expect(JSON.parse(tail.out).payload.participant.privilege).toBe("full");
});

test("--open says so where there is no browser to open", async () => {
  const gateway = await up(scratch(), ["--open"], { env: { PATH: scratch() } });
  await gateway.line(/no browser could be opened; open the link yourself/);
});

test("a start that fails after the port was opened ends, and leaves the data directory to the next", async () => {
  const dir = scratch();
  const data = join(dir, "data");
  mkdirSync(data, { mode: 0o700 });
  // What it writes when it listens cannot be written.
  mkdirSync(join(data, "gateway.json", "in-the-way"), { recursive: true, mode: 0o700 });
  const { code, err } = await mcpx(["up", "--data", data, "--port", "0", "--no-demo"], { cwd: dir });
  expect([code, err]).toEqual([1, expect.stringContaining("gateway.json")]);
  rmSync(join(data, "gateway.json"), { recursive: true });
  const gateway = await up(data);
  expect((await fetch(`${gateway.url}/readyz`)).status).toBe(200);
});

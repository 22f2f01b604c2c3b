// `mcpx devices`: what is configured, what is on a line, what goes over it, and a board for those who have none.
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { type SimulatedStub, startSimulatedStub } from "../../packages/devices/src/testing/simulated-stub.ts";
import { mcpx, scratch, start, up } from "./support/mcpx-process.ts";

/** Many processes, one after the other: they end what hangs. */
const slow = { timeout: 120_000 };

async function stubOnTcp(): Promise<SimulatedStub & { line: string }> {
  const stub = await startSimulatedStub();
  onTestFinished(() => stub[Symbol.asyncDispose]());
  return Object.assign(stub, { line: `tcp://127.0.0.1:${stub.port}` });
}

const add = {
  id: 1,
  arguments: [
    { name: "a", type: "uint" },
    { name: "b", type: "uint" },
  ],
  result: [{ name: "sum", type: "uint" }],
  capability: { mutable: false, reversible: true, idempotent: true, auth_scope: "read" },
};

test("lists each with its state, line and tools, calls one, and says what is wrong", slow, async () => {
  const { line } = await stubOnTcp();
  const dir = scratch();
  const device = { line, profile: "b", tools: { add, subtract: { ...add, id: 9 } } };
  const gone = { line: "unix:not-there", profile: "a", tools: {} };
  writeFileSync(join(dir, "mcpx.json"), JSON.stringify({ devices: { sum: device, gone } }));
  const gateway = await up(dir, [], { cwd: dir });
  await gateway.line(/"device":"sum".*"event":"registered"/);
  await gateway.line(/"device":"gone".*"event":"absent"/);
  const [listed, written, called] = await Promise.all([
    mcpx(["devices", "--data", dir]),
    mcpx(["devices", "--json", "--data", dir]),
    mcpx(["call", "sum.add", '{"a": 2, "b": 3}', "--yes", "--data", dir]),
  ]);
  expect(listed.out.split("\n")).toEqual([
    expect.stringMatching(/^● sum +up +profile B +tcp:\/\/127\.0\.0\.1:\d+ +add$/),
    "    configured, and not on the device or with other types: subtract",
    expect.stringMatching(/^✗ gone +down +profile A +unix:not-there +no tools yet$/),
    expect.stringMatching(/^ {4}connect ENOENT /),
  ]);
  expect(JSON.parse(written.out).devices).toMatchObject([
    { segment: "sum", state: "up", tools: ["add"], missing: ["subtract"] },
    { segment: "gone", state: "down" },
  ]);
  expect(called).toMatchObject({ code: 0, out: '{"sum":5}' });
  writeFileSync(join(dir, "mcpx.json"), JSON.stringify({ devices: { sum: device } }));
  await gateway.line(/"key":"devices\.gone".*takes effect after a restart/);
});

test("probe says who is there and what to configure, and that nobody is", async () => {
  const stub = await stubOnTcp();
  const found = await mcpx(["devices", "probe", stub.line]);
  expect(found.code).toBe(0);
  expect(found.out).toContain(
    "profile B, serial number 73696d, packets of up to 1024 bytes, one call at a time",
  );
  expect(found.out).toContain("  tool 1(uint, uint)\n  tool 2(text)");
  const written = JSON.parse(found.out.slice(found.out.indexOf("{")));
  expect(written.devices.device).toMatchObject({ line: stub.line, serial: "73696d" });
  stub.isSilent = true;
  const silent = await mcpx(["devices", "probe", stub.line, "--json"]);
  expect(silent).toMatchObject({ code: 1, out: JSON.stringify({ line: stub.line, found: null }) });
});

test("what is no line, or cannot be opened, is told in one line", async () => {
  const [wrong, login, gone] = await Promise.all([
    mcpx(["devices", "probe", "serial:"]),
    mcpx(["devices", "probe", "mqtt://me:secret@127.0.0.1/lamp"]),
    mcpx(["devices", "monitor", "unix:/nowhere/at/all"]),
  ]);
  expect(wrong).toMatchObject({
    code: 2,
    err: expect.stringMatching(/^mcpx: invalid line serial:; .*tcp:\/\//),
  });
  expect(login).toMatchObject({ code: 2, err: expect.stringContaining("settings of their own") });
  expect(gone).toMatchObject({ code: 1, err: expect.stringMatching(/cannot be opened: connect ENOENT/) });
  expect(gone.err).toMatch(/; there is no file or socket/);
  const unplugged = await mcpx(["devices", "probe", "serial:/dev/ttyNOBODY?baud=38400"]);
  expect(unplugged.err).toMatch(/No such file.*; is it plugged in\? ls \/dev\/tty\*$/);
  const bare = await mcpx(["devices", "probe", "spi:/dev/spidev250.250"]);
  expect(bare.err).toMatch(
    /^mcpx: .* this machine has no \/dev\/spidev250\.250; switch SPI on .*spidev\*\n?$/,
  );
});

test("monitor says of a line that is not of bytes whether others can look at it", async () => {
  const between = ["--between", join(scratch(), "tap")];
  const [bus, port] = await Promise.all(
    ["socketcan:can0?node=5", "spi:/dev/spidev0.0"].map((line) =>
      mcpx(["devices", "monitor", line, ...between]),
    ),
  );
  expect(bus).toMatchObject({ code: 2, err: expect.stringContaining("can be looked at by many") });
  expect(port).toMatchObject({ code: 2, err: expect.stringContaining("such a line has one owner") });
});

test("monitor stands between and shows both directions", async () => {
  const { line } = await stubOnTcp();
  const between = join(scratch(), "tap");
  const monitor = start(["devices", "monitor", line, "--between", between]);
  await monitor.line(/watching/);
  expect((await mcpx(["devices", "probe", `unix:${between}`])).code).toBe(0);
  await monitor.line(/→ register id 1$/);
  await monitor.line(/← id 1 result \{0: 1, 1: h'73696d', 2: 1024, /);
  monitor.kill("SIGTERM");
  expect((await monitor.ended).code).toBe(0);
  expect(existsSync(between)).toBe(false);
});

test("sim starts a board that can be probed, and joins the tree", slow, async () => {
  const dir = scratch();
  await up(dir);
  const sim = start(["devices", "sim", "microbit-b", "--join", "--segment", "lamp", "--data", dir]);
  await sim.line(/lamp is part of the tree/);
  const { out } = await mcpx(["call", "lamp.read_sensor", "--yes", "--data", dir]);
  expect(out).toMatch(/^\{"reading":\d+,"led":false,"releases":0\}$/);
  sim.kill("SIGTERM");
  expect((await sim.ended).code).toBe(0);
  const alone = start(["devices", "sim", "microbit-a", "--json"]);
  const { line } = JSON.parse(await alone.line(/"started"/));
  const probed = await mcpx(["devices", "probe", line, "--json"]);
  expect(JSON.parse(probed.out).found).toEqual({ profile: "a", crc: 16 });
  alone.kill("SIGTERM");
  expect((await alone.ended).code).toBe(0);
  expect(existsSync(line.slice("unix:".length))).toBe(false);
});

test("sim starts a board behind SPI too, and whoever comes next finds it as it is", async () => {
  const sim = start(["devices", "sim", "atmega328p-spi-b", "--json"]);
  const { line } = JSON.parse(await sim.line(/"started"/));
  expect(line).toMatch(/^spi\+unix:\//);
  for (const _ of [1, 2]) {
    // On a busy machine the emulated board answers later than one look waits.
    const found = async () =>
      JSON.parse((await mcpx(["devices", "probe", line, "--json"])).out || "{}").found;
    await expect.poll(found).toMatchObject({ profile: "b", serial: "64656d6f", packetMax: 96 });
  }
  sim.kill("SIGTERM");
  expect((await sim.ended).code).toBe(0);
});

test("sim says what is not installed, and which boards there are", async () => {
  const [bare, unknown] = await Promise.all([
    mcpx(["devices", "sim"], { env: { PATH: "/nonexistent" } }),
    mcpx(["devices", "sim", "arduino"]),
  ]);
  expect(bare).toMatchObject({ code: 1, err: expect.stringMatching(/not installed.*apt-get install/) });
  expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining("microbit-b") });
});

// The three topologies of the protocol's last appendix: each example is run as it stands, and checks itself.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";

const folder = join(dirname(dirname(import.meta.dirname)), "examples", "topologies");

interface Run {
  code: number | null;
  out: string;
  err: string;
}

async function run(name: string, more: NodeJS.ProcessEnv = {}): Promise<Run> {
  const args = ["--conditions=mcpx-source", join(folder, `${name}.ts`)];
  const env = { ...process.env, NODE_OPTIONS: "", NO_COLOR: "1", ...more };
  const child = spawn(process.execPath, args, { env, stdio: ["ignore", "pipe", "pipe"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, out, err };
}

/** The drawing's lines without the tree's own tools, and without what differs each time. */
function pictureIn(out: string): string[] {
  const lines = out.split("\n").filter((line) => /^[├└│ ]/.test(line) && !line.includes("● mcpax "));
  return lines.map((line) => line.replace(/, last heartbeat [\d.]+ s ago$/, ""));
}

const patience = { timeout: 60_000 };

test("[AX-C-1] [AX-3.1-1] enterprise: services below a root without a segment", patience, async () => {
  const { code, out, err } = await run("enterprise");
  expect([code, err]).toEqual([0, ""]);
  expect(out).toMatch(/^done$/m);
  expect(pictureIn(out)).toEqual([
    "├─ ● google_drive  1 tool, legacy, registered (write), fast",
    "├─ ● jira  2 tools, legacy, registered (write), fast",
    "└─ ● salesforce  1 tool, legacy, registered (write), fast",
  ]);
});

test("[AX-C-2] industrial: firmware on a UART, sensors with Bluetooth and a PLC on Modbus below an edge; what is signed in the cloud moves the actuator once", {
  timeout: 180_000,
}, async () => {
  const { code, out, err } = await run("industrial");
  expect([code, err]).toEqual([0, ""]);
  expect(out).toMatch(/^done$/m);
  expect(pictureIn(out)).toEqual([
    "└─ ● edge  5 tools, modern, registered (write), fast",
    "   ├─ ● actuator  3 tools, fast",
    "   ├─ ● plc  1 tool, fast",
    "   └─ ● sensors  1 tool, fast",
  ]);
  const order = ["still 0 times", "alice has signed; the valve has moved once"].map((words) =>
    out.indexOf(words),
  );
  expect(order).toEqual([...order].sort((one, other) => one - other));
  expect(order).not.toContain(-1);
});

test("[AX-C-2] industrial: where Bluetooth cannot be emulated, it says why in one line and fails", async () => {
  const directory = mkdtempSync(join(tmpdir(), "mcpx-forbidding-"));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  // As on a machine where namespaces are forbidden.
  const forbidding = "#!/bin/sh\necho 'unshare: unshare failed: Operation not permitted' >&2\nexit 1\n";
  writeFileSync(join(directory, "unshare"), forbidding, { mode: 0o755 });
  const { code, out, err } = await run("industrial", { PATH: `${directory}:${process.env.PATH}` });
  expect([code, out]).toEqual([1, ""]);
  expect(err).toBe(
    "Bluetooth cannot be emulated here (btvirt did not start: unshare: unshare failed: Operation not permitted); --without-bluetooth leaves the sensors out\n",
  );
});

test("[AX-C-3] [AX-3.1-1] regional: regions below a root with a segment of its own", patience, async () => {
  const { code, out, err } = await run("regional");
  expect([code, err]).toEqual([0, ""]);
  expect(out).toMatch(/^done$/m);
  expect(pictureIn(out).filter((line) => !line.includes("desk"))).toEqual([
    "├─ ● us  2 tools, modern, registered (write), fast",
    "│  ├─ ● east  1 tool, fast",
    "│  └─ ● west  1 tool, fast",
    "├─ ● eu  2 tools, modern, registered (write), fast",
    "│  ├─ ● east  1 tool, fast",
    "│  └─ ● west  1 tool, fast",
  ]);
});

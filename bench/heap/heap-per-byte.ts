// What one byte on the wire costs at the gateway that keeps it: bytes of memory after everything else was collected, and
// bytes on disk. A bound in bytes of what comes over the wire can be judged by it.
import { once } from "node:events";
import { readdirSync, rmSync, statSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Gateway, makeScene, type Scene } from "../fairness/scene.ts";
import { isSmoke } from "../sizes.ts";
import type { Keep } from "./keep.ts";
import { rows } from "./table.ts";
import type { MemoryInUse } from "./tell-heap.ts";

interface Cost {
  name: string;
  wireBytes: number;
  heapBytes: number;
  bufferBytes: number;
  diskBytes: number;
  /** Of memory, for each byte on the wire. */
  perByte: number;
  diskPerByte: number;
}

/** What keeps a stranger from being fast is out of the way: here it is counted what a thing costs, not how soon. */
const config = {
  limits: {
    envelopesPerSecondRestricted: 100_000,
    envelopesPerSecondFull: 100_000,
    proposalsPerMinute: 100_000,
    handshakesPerSecond: 100_000,
  },
  gates: {
    hold: 0,
    rules: [
      { tools: "evil.wait", action: "allow" },
      { tools: "evil.held", action: "allow", holdResult: true },
      { tools: "evil.**", action: "ask" },
    ],
  },
  subservers: Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`dev-${i}`, { development: true }])),
};

export async function benchHeapPerByte(note: (line: string) => void): Promise<Record<string, unknown>> {
  const scene = await makeScene();
  const costs: Cost[] = [];
  try {
    for (const [name, keep] of isSmoke ? rows.slice(0, 2) : rows) {
      const cost = await costOf(scene, name, keep);
      costs.push(cost);
      note(lineOf(cost));
    }
  } finally {
    scene.end();
  }
  const sorted = costs.toSorted((a, b) => b.perByte - a.perByte);
  return { costs: sorted, table: [...head, ...sorted.map(lineOf)].join("\n") };
}

let gateways = 0;

async function costOf(scene: Scene, name: string, keep: Keep): Promise<Cost> {
  gateways += 1;
  const socket = join(tmpdir(), `mcpx-bench-heap-${process.pid}-${gateways}`);
  const teller = new URL(`./tell-heap.ts?socket=${socket}`, import.meta.url).href;
  const gateway = await scene.start({ config, nodeArgs: ["--expose-gc", "--import", teller] });
  const ending = new AbortController();
  try {
    await warmUp(gateway, scene);
    const before = await look(socket, gateway);
    const target = { url: gateway.url, token: scene.tokens.attacker, devicePort: scene.devicePort };
    const wireBytes = await keep({ target, guestToken: scene.tokens.guest, signal: ending.signal });
    const after = await look(socket, gateway);
    const heapBytes = after.heapBytes - before.heapBytes;
    const bufferBytes = after.bufferBytes - before.bufferBytes;
    const diskBytes = after.diskBytes - before.diskBytes;
    const perByte = (heapBytes + bufferBytes) / wireBytes;
    return {
      name,
      wireBytes,
      heapBytes,
      bufferBytes,
      diskBytes,
      perByte,
      diskPerByte: diskBytes / wireBytes,
    };
  } finally {
    ending.abort();
    await gateway.stop();
    rmSync(socket, { force: true });
  }
}

/** What is loaded and compiled once is nobody's. */
async function warmUp({ url }: Gateway, { tokens }: Scene): Promise<void> {
  const headers = { authorization: `Bearer ${tokens.attacker}` };
  for (const path of ["/v0/topics", "/admin/audit", "/healthz"]) {
    await (await fetch(`${url}${path}`, { headers })).arrayBuffer();
  }
  await sleep(500);
}

async function look(path: string, { dataDir }: Gateway): Promise<MemoryInUse & { diskBytes: number }> {
  const socket = connect(path);
  let text = "";
  socket.on("data", (chunk) => {
    text += chunk;
  });
  await once(socket, "close");
  return { ...(JSON.parse(text) as MemoryInUse), diskBytes: diskOf(dataDir) };
}

function diskOf(dir: string): number {
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0);
}

const head = [
  "| what is kept | KiB on the wire | KiB kept | memory for each byte | of it buffers | disk for each byte |",
  "| --- | --- | --- | --- | --- | --- |",
];

function lineOf({ name, wireBytes, heapBytes, perByte, bufferBytes, diskPerByte }: Cost): string {
  const shown = (value: number) =>
    Math.abs(value) >= 100 ? String(Math.round(value)) : value.toPrecision(2);
  return `| ${name} | ${Math.round(wireBytes / 1_024)} | ${Math.round((heapBytes + bufferBytes) / 1_024)} | ${shown(perByte)} | ${shown(bufferBytes / wireBytes)} | ${shown(diskPerByte)} |`;
}

// A log of a million envelopes: a page of history out of its middle, and how soon we are ready after kill -9.
import { mkdtempSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { percentile } from "./load.ts";
import { startServerProcess } from "./server-process.ts";

const envelopes = 1_000_000;

export async function benchLargeLog(): Promise<{
  historyPageMs: { p50: number; p99: number };
  readyMsAfterKill: number;
}> {
  const dataDir = mkdtempSync(join(tmpdir(), "mcpx-bench-large-"));
  process.env.BENCH_DATA = dataDir;
  try {
    const server = await startServerProcess("./our-server.ts", [1, envelopes]);
    const pages: number[] = [];
    for (let i = 0; i < 300; i += 1) {
      const before = 1 + Math.floor(Math.random() * envelopes);
      const began = performance.now();
      await get(
        `${server.url}/v0/topics/bench-0/history?limit=100&before_seq=${before}`,
        server.tokens[0] ?? "",
      );
      if (i >= 50) pages.push(performance.now() - began);
    }
    pages.sort((a, b) => a - b);
    await server.kill();
    const began = performance.now();
    const again = await startServerProcess("./our-server.ts", [1, 0]);
    const readyMsAfterKill = performance.now() - began;
    await again.stop();
    return { historyPageMs: { p50: percentile(pages, 50), p99: percentile(pages, 99) }, readyMsAfterKill };
  } finally {
    delete process.env.BENCH_DATA;
    rmSync(dataDir, { recursive: true, force: true });
  }
}

const agent = new Agent({ keepAlive: true });

/** A plain client on one connection, so that the server is what takes the time. */
function get(url: string, token: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const asked = request(url, { agent, headers: { authorization: `Bearer ${token}` } }, (response) => {
      if (response.statusCode !== 200) reject(new Error(`history answered ${response.statusCode}`));
      response.on("end", resolve).resume();
    });
    asked.on("error", reject).end();
  });
}

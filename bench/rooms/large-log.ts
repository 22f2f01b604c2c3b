// A log of a million envelopes: a page of history out of its middle, and how soon we are ready after kill -9.
import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sized } from "../sizes.ts";
import { percentile } from "./load.ts";
import type { Asked, Waited } from "./page-reader.ts";
import { type ServerProcess, startServerProcess } from "./server-process.ts";

const envelopes = sized(1_000_000, 2_000);

export async function benchLargeLog() {
  const dataDir = mkdtempSync(join(tmpdir(), "mcpx-bench-large-"));
  process.env.BENCH_DATA = dataDir;
  try {
    const server = await startServerProcess("./our-server.ts", [1, envelopes]);
    const { cold, page, bare } = await readPages(server);
    await server.kill();
    const began = performance.now();
    const again = await startServerProcess("./our-server.ts", [1, 0]);
    const readyMsAfterKill = performance.now() - began;
    await again.stop();
    const p50 = (waits: number[]) => percentile(waits, 50);
    return {
      historyPageMs: { p50: p50(page), p99: percentile(page, 99), coldP50: p50(cold), bareP50: p50(bare) },
      ratio: { page_vs_bare_http: p50(page) / p50(bare) },
      readyMsAfterKill,
    };
  } finally {
    delete process.env.BENCH_DATA;
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** By a process that has done nothing else before, in turns with an HTTP server that has the answer ready. */
async function readPages({ url, tokens }: ServerProcess): Promise<Waited> {
  const page = `${url}/v0/topics/bench-0/history?limit=100&before_seq=`;
  const authorization = `Bearer ${tokens[0]}`;
  const example = await fetch(`${page}1000`, { headers: { authorization } });
  const bare = await startServerProcess("./bare-server.ts", [(await example.text()).length]);
  const reader = fork(new URL("./page-reader.ts", import.meta.url));
  const waited = await new Promise<Waited>((resolve, reject) => {
    reader.once("exit", (code) => reject(new Error(`the reader of pages ended with ${code}`)));
    reader.once("message", (answer) => resolve(answer as Waited));
    reader.send({ page, bare: bare.url, authorization, envelopes } satisfies Asked);
  });
  reader.disconnect();
  await bare.stop();
  return waited;
}

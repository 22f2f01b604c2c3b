// Ours, with its durable log holding half a million random ids, and rate limits out of the way.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startGateway } from "@mcpx/cli";
import { createIdentity, createLogger, createSqliteIdentityStore, openState, systemClock } from "@mcpx/host";
import { defaultLimits } from "@mcpx/protocol";
import { reportCpuWhenAsked } from "./server-process.ts";

const [participants = 1, prefilled = 0, rooms = 1] = process.argv.slice(2).map(Number);
const dataDir = process.env.BENCH_DATA ?? mkdtempSync(join(tmpdir(), "mcpx-bench-"));
const log = createLogger({ level: "warn" });

if (prefilled > 0) prefill(prefilled);
const server = await startGateway({
  dataDir,
  listen: { host: "127.0.0.1", port: 0 },
  gateway: { topics: { "**": { retention: { count: 10_000_000 } } } },
  issuers: [],
  limits: { ...defaultLimits, envelopesPerSecondFull: 1e9, handshakesPerSecond: 1e9, connectionsMax: 20_000 },
  log,
});
const state = openState(join(dataDir, "state.db"));
const { tokens } = await createIdentity({ store: createSqliteIdentityStore(state), clock: systemClock, log });
const minted: string[] = [];
for (let i = 0; i < participants; i += 1) {
  const claims = { sub: `bench-${i}`, topics: [`bench-${i % rooms}`], level: "full" } as const;
  minted.push((await tokens.mint(claims, { ttlMs: 3_600_000 })).token);
}
process.send?.({ url: server.url, tokens: minted });
// Before that which ends the process.
process.on("disconnect", () => {
  if (process.env.BENCH_DATA === undefined) rmSync(dataDir, { recursive: true, force: true });
});
reportCpuWhenAsked();

function prefill(count: number): void {
  const file = fileURLToPath(new URL("./prefill.ts", import.meta.url));
  const path = join(dataDir, "topics.db");
  execFileSync(process.execPath, ["--conditions=mcpx-source", file, path, String(count)]);
}

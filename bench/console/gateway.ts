// A gateway with the console, its rate limits out of the way, in a process of its own. Last of its tokens: an admin's.
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { startGateway, treeSettings } from "@mcpx/cli";
import { joinRoom } from "@mcpx/client";
import { createIdentity, createLogger, createSqliteIdentityStore, openState, systemClock } from "@mcpx/host";
import { defaultLimits } from "@mcpx/protocol";
import { reportCpuWhenAsked } from "../rooms/server-process.ts";

const [publishers = 1, prefilled = 0, tools = 0, rooms = 0] = process.argv.slice(2).map(Number);
/** Tools are of so many servers. */
const servers = 10;
const dataDir = mkdtempSync(join(tmpdir(), "mcpx-bench-console-"));
const log = createLogger({ level: "warn" });

if (prefilled > 0) {
  const file = fileURLToPath(new URL("./prefill.ts", import.meta.url));
  const path = join(dataDir, "topics.db");
  execFileSync(process.execPath, ["--conditions=mcpx-source", file, path, String(prefilled)]);
}
const archive = fileURLToPath(new URL("../fairness/tools-server.ts", import.meta.url));
const mcpServers = Object.fromEntries(
  Array.from({ length: tools > 0 ? servers : 0 }, (_, i) => [
    `archive-${i}`,
    { command: process.execPath, args: [archive, String(tools / servers)] },
  ]),
);
const server = await startGateway({
  dataDir,
  tree: treeSettings({ mcpServers }, { dir: dataDir, env: process.env }),
  listen: { host: "127.0.0.1", port: 0 },
  gateway: { topics: { "**": { retention: { count: 10_000_000 } } } },
  issuers: [],
  limits: { ...defaultLimits, envelopesPerSecondFull: 1e9 },
  log,
});
const state = openState(join(dataDir, "state.db"));
const { tokens } = await createIdentity({ store: createSqliteIdentityStore(state), clock: systemClock, log });
const ttlMs = 3_600_000;
const minted: string[] = [];
for (let i = 0; i < publishers; i += 1) {
  const claims = { sub: `bench-${i}`, topics: ["bench-0"], level: "full", kind: "agent" } as const;
  minted.push((await tokens.mint(claims, { ttlMs })).token);
}
for (let i = 0; i < rooms; i += 1) {
  const topic = `room-${i}`;
  const { token } = await tokens.mint(
    { sub: `somebody-${i}`, topics: [topic], level: "full", kind: "agent" },
    { ttlMs },
  );
  await joinRoom({ url: server.url, topic, token, history: 0 });
}
minted.push(
  (await tokens.mint({ sub: "admin", topics: ["**"], tools: ["**"], admin: true }, { ttlMs })).token,
);
process.send?.({ url: server.url, tokens: minted });
// Before that which ends the process.
process.on("disconnect", () => rmSync(dataDir, { recursive: true, force: true }));
reportCpuWhenAsked();

// The server as a process of its own, so that it can be measured, limited and killed. Options come as JSON.
import { startServer } from "@mcpx/cli";
import { createLogger } from "@mcpx/host";
import { defaultLimits } from "@mcpx/protocol";

const { dataDir, port = 0, limits = {}, gateway = {} } = JSON.parse(process.argv[2] ?? "{}");
const server = await startServer({
  dataDir,
  listen: { host: "127.0.0.1", port },
  gateway,
  issuers: [],
  limits: { ...defaultLimits, ...limits },
  log: createLogger({ level: "error" }),
});
process.send?.({ url: server.url });

let lagMs = 0;
let due = performance.now() + 20;
setInterval(() => {
  lagMs = Math.max(lagMs, performance.now() - due);
  due = performance.now() + 20;
}, 20).unref();

process.on("message", () => {
  globalThis.gc?.();
  const { rss, heapUsed, external } = process.memoryUsage();
  process.send?.({ rssBytes: rss, liveBytes: heapUsed + external, lagMs });
  lagMs = 0;
});
process.on("SIGTERM", async () => {
  await server.stop();
  process.exit(0);
});

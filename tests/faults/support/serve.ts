// A server in a process of its own, so that it can die. Its options are the first argument, as JSON; its address is
// the first line it prints; each line it is given is answered by its use of memory. It ends with whoever started it.
import { createInterface } from "node:readline";
import { type StartOptions, startGateway } from "@mcpx/cli";
import { createLogger } from "@mcpx/host";
import { defaultLimits, type Limits } from "@mcpx/protocol";

export interface ServeOptions extends Pick<StartOptions, "dataDir" | "topicLog"> {
  gateway?: StartOptions["gateway"];
  limits?: Partial<Limits>;
}

const { dataDir, topicLog = {}, gateway, limits }: ServeOptions = JSON.parse(process.argv[2] ?? "");
const server = await startGateway({
  dataDir,
  topicLog,
  listen: { host: "127.0.0.1", port: 0 },
  gateway: { topics: { "**": { retention: {} } }, ...gateway },
  issuers: [],
  // Rates are not what is tested with it.
  limits: { ...defaultLimits, envelopesPerSecondFull: 1e9, ...limits },
  log: createLogger({ level: "info" }),
});
const { user, system } = process.cpuUsage();
const cpuMs = (user + system) / 1_000;
process.stdout.write(`${JSON.stringify({ url: server.url, pid: process.pid, cpuMs })}\n`);
process.on("SIGTERM", async () => {
  await server.stop();
  process.exit(0);
});
createInterface({ input: process.stdin })
  .on("line", () => {
    globalThis.gc?.();
    const { heapUsed, external } = process.memoryUsage();
    process.stdout.write(`${JSON.stringify({ liveBytes: heapUsed + external })}\n`);
  })
  .on("close", () => process.exit(1));

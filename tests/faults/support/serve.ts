// A server in a process of its own, so that it can die. Its options are the first argument, as JSON; its address is
// the first line it prints. It ends with whoever started it.
import { type ServerOptions, startServer } from "@mcpx/cli";
import { createLogger } from "@mcpx/host";
import { defaultLimits, type Limits } from "@mcpx/protocol";

export interface ServeOptions extends Pick<ServerOptions, "dataDir" | "topicLog"> {
  limits?: Partial<Limits>;
}

const { dataDir, topicLog = {}, limits }: ServeOptions = JSON.parse(process.argv[2] ?? "");
const server = await startServer({
  dataDir,
  topicLog,
  listen: { host: "127.0.0.1", port: 0 },
  gateway: { topics: { "**": { retention: {} } } },
  issuers: [],
  // Rates are not what is tested with it.
  limits: { ...defaultLimits, envelopesPerSecondFull: 1e9, ...limits },
  log: createLogger({ level: "info" }),
});
process.stdout.write(`${JSON.stringify({ url: server.url, pid: process.pid })}\n`);
process.on("SIGTERM", async () => {
  await server.stop();
  process.exit(0);
});
process.stdin.on("end", () => process.exit(1)).resume();

// A whole server with a tree, in a process of its own, so that what it costs can be seen from outside. Its options are
// the first argument, as JSON; its address is the first line it prints; each line it is given is answered by its use of
// memory after a collection. It ends with whoever started it.
import { createInterface } from "node:readline";
import { type Config, startGateway, treeSettings } from "@mcpx/cli";
import { createLogger } from "@mcpx/host";
import { defaultLimits } from "@mcpx/protocol";

export interface ServeTreeOptions {
  dataDir: string;
  config: Pick<Config, "mcpServers" | "profiles" | "segment">;
}

const { dataDir, config }: ServeTreeOptions = JSON.parse(process.argv[2] ?? "");
const server = await startGateway({
  dataDir,
  // Gates are tested elsewhere: here nothing waits for a human.
  tree: treeSettings(
    { gates: { rules: [{ tools: "**", action: "allow" }] }, ...config },
    { dir: process.cwd(), env: process.env },
  ),
  listen: { host: "127.0.0.1", port: 0 },
  gateway: {},
  issuers: [],
  limits: defaultLimits,
  log: createLogger({ level: "info" }),
});
process.stdout.write(`${JSON.stringify({ url: server.url, pid: process.pid })}\n`);
createInterface({ input: process.stdin })
  .on("line", () => {
    globalThis.gc?.();
    const { heapUsed, external } = process.memoryUsage();
    process.stdout.write(`${JSON.stringify({ liveBytes: heapUsed + external })}\n`);
  })
  .on("close", async () => {
    await server.stop();
    process.exit(0);
  });

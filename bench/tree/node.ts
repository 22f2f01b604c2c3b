// One aggregator of the bench's tree, in a process of its own. `node.ts DIR [--parent URL SEGMENT TOKEN] [--backend URL]`.
// Says where it is, and gives tokens for those below it, by a message.
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startGateway, treeSettings } from "@mcpx/cli";
import { createIdentity, createLogger, createSqliteIdentityStore, openState, systemClock } from "@mcpx/host";
import { defaultLimits } from "@mcpx/protocol";

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    parent: { type: "string" },
    segment: { type: "string" },
    token: { type: "string" },
    backend: { type: "string" },
  },
});
const [dataDir = ""] = positionals;
const { parent, segment, token, backend } = values;
const log = createLogger({ level: "error" });
/** Segments that anybody registers, for as many registrants as the bench has. */
const guests = Array.from({ length: 5_000 }, (_, i) => [`r${i}`, { development: true }]);
const config = {
  subservers: Object.fromEntries(guests),
  // What a hop costs, and not what a human does.
  gates: { rules: [{ tools: "**", action: "allow" as const }] },
  ...(backend !== undefined && { mcpServers: { bench: { url: backend, trusted: true } } }),
  ...(parent !== undefined && {
    parents: [{ url: parent, segment: segment ?? "", token: token ?? "", heartbeat: 1_000 }],
  }),
};
const server = await startGateway({
  dataDir,
  tree: treeSettings(config, { dir: dataDir, env: process.env }),
  listen: { host: "127.0.0.1", port: 0 },
  gateway: {},
  issuers: [],
  limits: defaultLimits,
  log,
});
const db = openState(join(dataDir, "state.db"));
const { tokens } = await createIdentity({ store: createSqliteIdentityStore(db), clock: systemClock, log });
const mint = async (claims: Parameters<typeof tokens.mint>[0]) =>
  (await tokens.mint(claims, { ttlMs: 3_600_000 })).token;
process.send?.({
  url: server.url,
  /** For the one below it. */
  childToken: await mint({ sub: "below", topics: [], segment: "below", scope: "write" }),
  /** For anybody who registers what only reads. */
  guestToken: await mint({ sub: "guest", topics: [] }),
  clientToken: await mint({ sub: "client", topics: [], tools: ["**"] }),
});
process.on("disconnect", () => process.exit(0));

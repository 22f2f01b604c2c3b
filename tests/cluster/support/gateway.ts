// Rooms and their REST API over a store that several gateways share: a process of its own, that can be killed or paused.
// Its one argument is JSON. Prints its address once it is a member, and drains when its standard input ends.
import { once } from "node:events";
import {
  createGateway,
  createNeighbours,
  createOwnership,
  createPostgresRoomState,
  createPostgresTopicLog,
  createPostgresTopicOwners,
  openNewsFeed,
  postgresTopicLogStore,
  roomsOnPostgres,
} from "@mcpx/gateway";
import {
  systemClock as clock,
  clusterOnPostgres,
  createAudit,
  createIdentity,
  createListener,
  createLogger,
  createMetrics,
  createPeers,
  createPostgresAuditStore,
  createPostgresClusterStore,
  createPostgresIdentityStore,
  createSeal,
  hostOnPostgres,
  joinCluster,
  migratePostgres,
  openPostgresSession,
  peerPath,
  readPostgresAddress,
} from "@mcpx/host";
import { defaultLimits as limits } from "@mcpx/protocol";

interface Given {
  id: string;
  port: number;
  /** Of everything. */
  store: string;
  /** Of the secrets in the store. */
  sealKey: string;
  leaseMs: number;
}

const given = JSON.parse(process.argv[2] as string) as Given;
const log = createLogger({ level: "info", destination: { write: (line) => process.stderr.write(line) } });
const metrics = createMetrics();
const address = readPostgresAddress(given.store);
await migratePostgres(address, hostOnPostgres, clusterOnPostgres, roomsOnPostgres, postgresTopicLogStore);
const session = await openPostgresSession(address);
const audit = createAudit({
  store: createPostgresAuditStore(session),
  clock,
  log,
  metrics,
  retention: { recordsMax: limits.auditRecordsMax, keepMs: limits.auditKeepMs },
});
const seal = createSeal(Buffer.from(given.sealKey, "base64url"));
const identity = await createIdentity({ store: createPostgresIdentityStore({ session, seal }), clock, log });
const store = createPostgresClusterStore(session);
const listener = createListener({ host: "127.0.0.1", port: given.port, limits, log, metrics });
const membership = await joinCluster({
  store,
  self: { id: given.id, address: `http://127.0.0.1:${given.port}`, version: "0.1.0" },
  leaseMs: given.leaseMs,
  log,
  onLost: () => gateway.loseTopics(),
});
const peers = createPeers({
  number: membership.number,
  secret: identity.secret("peers"),
  log,
});
const neighbours = createNeighbours({ membership, peers, log });
const news = await openNewsFeed({ store, neighbours, log });
const ownership = createOwnership({
  owners: createPostgresTopicOwners(session),
  neighbours,
  endLease: (number) => store.end(number),
  log,
});
const topicLog = await createPostgresTopicLog({ url: given.store, epochOf: ownership.epochOf });
const gateway = await createGateway(
  {
    clock,
    log,
    audit,
    metrics,
    identity,
    state: createPostgresRoomState(session),
    topicLog,
    limits,
    cluster: { neighbours, ownership, news },
  },
  {},
);
if (gateway.forPeers === undefined) throw new Error("a gateway with an ownership serves no peers");
peers.serve(gateway.forPeers);
listener.onUpgrade("/v0/ws", gateway.upgrade);
listener.onUpgrade(peerPath, peers.accept);
const { url } = await listener.start(gateway.routes);
process.stdout.write(`${JSON.stringify({ url })}\n`);

process.stdin.resume();
await once(process.stdin, "end");
await gateway.drain();
news.close();
await membership.leave();
peers.close();
await listener.close({ graceMs: 100 });
await topicLog.close();
await session.close();
process.exit(0);

// Rooms over three gateways that share a PostgreSQL: a client that lands anywhere is in the same room, and what was
// acknowledged outlives the gateway that said so.
import { once } from "node:events";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { WebSocket } from "ws";
import { startPostgres } from "../support/postgres-server.ts";
import { ResumingClient } from "../support/resuming-client.ts";
import { type Seen, TestClient } from "../support/test-client.ts";
import { type Cluster, type ClusterMember, startCluster } from "./support/start-cluster.ts";

const postgres = await startPostgres();
afterAll(() => postgres[Symbol.asyncDispose]());
const cluster = await startCluster({ store: postgres.url(), count: 3 });
afterAll(() => cluster[Symbol.asyncDispose]());

/** A participant that comes back to the next gateway where one does not let it in. */
async function enter(of: Cluster, topic: string, id: string, at: readonly ClusterMember[]) {
  const token = await of.token({ sub: id, topics: [topic], level: "full" });
  let tries = 0;
  const client = new ResumingClient(() => {
    tries += 1;
    return (at[(tries - 1) % at.length] as ClusterMember).room(topic);
  }, token);
  const running = client.run();
  onTestFinished(async () => {
    client.stop();
    await running;
  });
  await expect.poll(() => client.connects).toBeGreaterThan(0);
  return client;
}

const order = (client: ResumingClient) => client.seen.map(({ seq, text }) => `${seq} ${text}`);

/** Everybody has said so many things, all are acknowledged, and everybody has seen all that the others said. */
async function settle(clients: readonly ResumingClient[], total: number): Promise<void> {
  for (const client of clients) await expect.poll(() => client.unacked.size).toBe(0);
  for (const client of clients) await expect.poll(() => client.position?.seq).toBe(total);
  for (const client of clients) expect(client.faults).toEqual([]);
}

/** What was acknowledged, from all; every id once, every seq once, none missing. */
function checkHistory(clients: readonly ResumingClient[], total: number): void {
  const acked = clients.flatMap((client) => [...client.acked]);
  expect(new Set(acked.map(([id]) => id)).size).toBe(acked.length);
  expect(acked.map(([, seq]) => seq).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: total }, (_, i) => i + 1),
  );
  const bySeq = new Map(acked.map(([id, seq]) => [seq, id]));
  for (const { seen } of clients) for (const { seq, id } of seen) expect(bySeq.get(seq)).toBe(id);
}

test("[B-SCALE-2] three clients at three gateways are in one room: one order, each envelope once, acks to its sender", async () => {
  const clients = await Promise.all(
    cluster.gateways.map((gateway, i) => enter(cluster, "one", `p${i}`, [gateway])),
  );
  for (let n = 0; n < 20; n += 1) for (const client of clients) client.publish(`${n}`);
  await settle(clients, 60);
  checkHistory(clients, 60);
  for (const client of clients) expect(client.seen).toHaveLength(40);
  expect(clients.map(({ connects }) => connects)).toEqual([1, 1, 1]);
  expect(order(clients[0] as ResumingClient)).not.toEqual(order(clients[1] as ResumingClient));
});

test("topics are spread over the gateways, and a client of any of them reaches each", async () => {
  for (let i = 0; i < 6; i += 1) {
    const [ada, bob] = await Promise.all([
      enter(cluster, `spread-${i}`, "ada", [cluster.gateways[0] as ClusterMember]),
      enter(cluster, `spread-${i}`, "bob", [cluster.gateways[1] as ClusterMember]),
    ]);
    ada.publish("from ada");
    await settle([ada, bob], 1);
    expect(order(bob)).toEqual(["1 from ada"]);
  }
  const owners = await postgres.sql(
    "SELECT count(DISTINCT owner)::int AS owners FROM store1.topics WHERE name LIKE 'spread-%'",
  );
  expect(owners[0]?.owners).toBeGreaterThan(1);
});

test("[B-SCALE-2] the gateway that serves a room is killed: nothing acknowledged is lost or doubled, every resume is exact", async () => {
  const [g0, g1, g2] = cluster.gateways as [ClusterMember, ClusterMember, ClusterMember];
  const clients = await Promise.all([
    enter(cluster, "kill", "ada", [g0, g1, g2]),
    enter(cluster, "kill", "bob", [g1, g2, g0]),
    enter(cluster, "kill", "eve", [g2, g0, g1]),
  ]);
  let said = 0;
  const sayMore = () => {
    for (const client of clients) client.publish(`${said}`);
    said += clients.length;
  };
  for (let n = 0; n < 10; n += 1) sayMore();
  await settle(clients, said);
  const [{ address } = {}] = await postgres.sql(
    "SELECT address FROM store1.cluster_gateways JOIN store1.topics ON owner = number WHERE name = 'kill'",
  );
  const owner = cluster.gateways.find(({ url }) => url === address) as ClusterMember;
  // In the middle of what is being said.
  for (let n = 0; n < 20; n += 1) sayMore();
  await owner.kill();
  for (let n = 0; n < 10; n += 1) sayMore();
  await settle(clients, said);
  checkHistory(clients, said);
  await owner.start();
}, 60_000);

test("[B-SCALE-2] a gateway that was paused past its lease comes back: nothing it says counts, and its clients move on", async () => {
  const [g0, g1] = cluster.gateways as [ClusterMember, ClusterMember];
  const topic = "pause";
  const bob = await enter(cluster, topic, "bob", [g0]);
  const [{ address } = {}] = await postgres.sql(
    "SELECT address FROM store1.cluster_gateways JOIN store1.topics ON owner = number WHERE name = 'pause'",
  );
  const owner = cluster.gateways.find(({ url }) => url === address) as ClusterMember;
  const other = owner === g0 ? g1 : g0;
  const ada = await enter(cluster, topic, "ada", [owner, other]);
  ada.publish("before");
  await settle([ada], 1);
  owner.signal("SIGSTOP");
  // It is still connected to the paused gateway, which answers nothing.
  ada.publish("into the pause");
  const eve = await enter(cluster, topic, "eve", [other]);
  eve.publish("meanwhile");
  await expect.poll(() => eve.acked.size).toBe(1);
  owner.signal("SIGCONT");
  await settle([ada, eve], 3);
  checkHistory([ada, eve], 3);
  if (other !== g0) bob.cut();
}, 60_000);

test("a gateway that is stopped gives its topics back at once: nobody waits for a lease, no envelope fails", async () => {
  const [g0, g1] = cluster.gateways as [ClusterMember, ClusterMember];
  const clients = await Promise.all([
    enter(cluster, "drain", "ada", [g0, g1]),
    enter(cluster, "drain", "bob", [g1, g0]),
  ]);
  for (let n = 0; n < 5; n += 1) for (const client of clients) client.publish(`${n}`);
  await settle(clients, 10);
  for (const client of clients) client.publish("while it stops");
  await g0.stop();
  for (const client of clients) client.publish("after");
  await settle(clients, 14);
  checkHistory(clients, 14);
  await g0.start();
}, 60_000);

test("a token that is revoked at one gateway ends its connections at all, and opens none", async () => {
  const [g0, g1, g2] = cluster.gateways as [ClusterMember, ClusterMember, ClusterMember];
  const { token, jti } = await cluster.identity.tokens.mint(
    { sub: "mallory", topics: ["revoked"], level: "full" },
    { ttlMs: 600_000 },
  );
  const clients: TestClient[] = [];
  for (const { url } of [g0, g1, g2]) {
    const client = await TestClient.connect(url, token, { topic: "revoked" });
    onTestFinished(() => client.ws.terminate());
    // Each takes the place of the one before: of one participant there is one connection, wherever it begins.
    await client.event("welcome");
    clients.push(client);
  }
  await cluster.identity.revocations.revoke(jti);
  const codes = await Promise.all(clients.map(async (client) => (await client.closing()).code));
  expect(codes).toEqual([4409, 4409, 4401]);
  for (const gateway of [g0, g1, g2]) {
    const ws = new WebSocket(gateway.room("revoked"), { headers: { authorization: `Bearer ${token}` } });
    ws.on("error", () => {});
    const [, response] = await once(ws, "unexpected-response");
    expect(response.statusCode).toBe(401);
  }
});

test("[X0-5.3-1] [X0-5.3-2] who is where is the same at every gateway, and a ticket of one opens the endpoint of another, once", async () => {
  const [g0, g1, g2] = cluster.gateways as [ClusterMember, ClusterMember, ClusterMember];
  await enter(cluster, "lists", "ada", [g0]);
  await enter(cluster, "lists", "bob", [g1]);
  const token = await cluster.token({ sub: "eve", topics: ["lists"], level: "full", admin: true });
  const ask = async (gateway: ClusterMember, path: string, body?: object) => {
    const response = await fetch(`${gateway.url}${path}`, {
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      ...(body && { method: "POST", body: JSON.stringify(body) }),
    });
    expect(response.ok).toBe(true);
    return (await response.json()) as Seen;
  };
  const idsOf = (rows: Seen[], name: string) => rows.map((row) => row[name]).toSorted();
  for (const gateway of [g0, g1, g2]) {
    const { participants } = await ask(gateway, "/v0/topics/lists/participants");
    expect(idsOf(participants, "id")).toEqual(["ada", "bob"]);
    const { topics } = await ask(gateway, "/v0/topics");
    expect(topics).toEqual([{ name: "lists", participants: 2, seq: 0 }]);
    const { connections } = await ask(gateway, "/admin/connections");
    const ofTopic = connections.filter(({ topic }: Seen) => topic === "lists");
    expect(idsOf(ofTopic, "participantId")).toEqual(["ada", "bob"]);
  }
  const { ticket } = await ask(g0, "/v0/tickets", { topic: "lists" });
  const knock = async (shown: string) => {
    const ws = new WebSocket(`${g2.room("lists")}&ticket=${encodeURIComponent(shown)}`);
    onTestFinished(() => ws.terminate());
    ws.on("error", () => {});
    return Promise.race([
      once(ws, "open").then(() => 101),
      once(ws, "unexpected-response").then(([, response]) => response.statusCode as number),
    ]);
  };
  expect([await knock(`9${ticket}`), await knock(ticket), await knock(ticket)]).toEqual([401, 101, 401]);
});

test("[X1-5.1-2] an admin's decision at one gateway is in force at all, on connections and for newcomers", async () => {
  const [g0, g1, g2] = cluster.gateways as [ClusterMember, ClusterMember, ClusterMember];
  const admin = await cluster.token({ sub: "root", topics: ["**"], admin: true });
  const token = await cluster.token({ sub: "eve", topics: ["levels-*"], level: "full" });
  const decide = async (gateway: ClusterMember, method: string, path: string) => {
    const response = await fetch(`${gateway.url}/admin/participants/eve${path}`, {
      method,
      headers: { authorization: `Bearer ${admin}` },
    });
    return (await response.json()) as Seen;
  };
  // Rooms enough to be served by more than one of them.
  const topics = ["levels-1", "levels-2", "levels-3", "levels-4"];
  const joined = await Promise.all(
    topics.map((topic, i) =>
      TestClient.connect((cluster.gateways[i % 3] as ClusterMember).url, token, { topic }),
    ),
  );
  for (const client of joined) onTestFinished(() => client.ws.terminate());
  // Who is not in yet comes in with the new level, and is told of no change.
  for (const client of joined) await client.event("welcome");
  await expect.poll(async () => (await decide(g1, "POST", "/demote")).newPrivilege).toBe("restricted");
  for (const client of joined) {
    expect((await client.event("privilege_changed")).payload).toMatchObject({
      old: "full",
      new: "restricted",
    });
  }
  expect(await decide(g2, "POST", "/promote")).toMatchObject({ oldPrivilege: "restricted" });
  expect(await decide(g0, "DELETE", "")).toMatchObject({ connections: 4 });
  for (const client of joined) expect((await client.closing()).code).toBe(4403);
  for (const { url } of cluster.gateways) {
    const refused = TestClient.connect(url, token, { topic: "levels-1" });
    await expect(refused).rejects.toMatchObject({ status: 403 });
  }
});

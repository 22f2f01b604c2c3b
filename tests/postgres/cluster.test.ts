// Several gateways on one PostgreSQL: who lives, who does what, what all have heard, and who owns a topic.
import {
  createPostgresTopicLog,
  createPostgresTopicOwners,
  postgresTopicLogStore,
  type TopicLog,
} from "@mcpx/gateway";
import {
  type ClusterStore,
  clusterOnPostgres,
  createPostgresClusterStore,
  migratePostgres,
  openPostgresSession,
  readPostgresAddress,
} from "@mcpx/host";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { newEntry } from "../../packages/gateway/src/topic-log/cases.ts";
import { startPostgres } from "../support/postgres-server.ts";

const server = await startPostgres();
afterAll(() => server[Symbol.asyncDispose]());

const leaseMs = 60_000;
/** A lease that has ended when it begins. */
const overMs = -1;

async function openSession(url: string) {
  const address = readPostgresAddress(url);
  await migratePostgres(address, clusterOnPostgres, postgresTopicLogStore);
  const session = await openPostgresSession(address);
  onTestFinished(() => session.close());
  return session;
}

const openStore = async (url: string) => createPostgresClusterStore(await openSession(url));

const gatewayOf = (id: string) => ({ id, address: `http://${id}.test:6279`, version: "0.1.0" });

test("a gateway lives as long as it says so, by the clock of the store, and is another one when it comes back", async () => {
  const store = await openStore(server.url());
  const ada = await store.join(gatewayOf("ada"), leaseMs);
  const bob = await store.join(gatewayOf("bob"), overMs);
  expect(await store.gateways()).toEqual([
    { ...gatewayOf("ada"), number: ada, leaseLeftMs: expect.any(Number) },
  ]);
  expect([await store.renew(ada, leaseMs), await store.renew(bob, leaseMs)]).toEqual([true, false]);
  const again = await store.join(gatewayOf("bob"), leaseMs);
  expect(again).toBeGreaterThan(bob);
  await store.end(ada);
  expect((await store.gateways()).map(({ number }) => number)).toEqual([again]);
  expect(await store.renew(ada, leaseMs)).toBe(false);
});

test("one duty has one holder, of many that want it at once, until that one is gone", async () => {
  const url = server.url();
  const stores = await Promise.all(Array.from({ length: 6 }, () => openStore(url)));
  const numbers: number[] = [];
  for (const [i, store] of stores.entries()) numbers.push(await store.join(gatewayOf(`g${i}`), leaseMs));
  const ask = () => Promise.all(stores.map((store, i) => store.hold("trim", numbers[i] as number)));
  for (let round = 0; round < 10; round += 1) {
    const first = await ask();
    expect(first.filter(Boolean)).toHaveLength(1);
    expect(await ask()).toEqual(first);
    // The holder goes, and comes back as another.
    const holder = first.indexOf(true);
    await (stores[holder] as ClusterStore).end(numbers[holder] as number);
    expect(await (stores[holder] as ClusterStore).hold("trim", numbers[holder] as number)).toBe(false);
    numbers[holder] = await (stores[holder] as ClusterStore).join(gatewayOf(`g${holder}`), leaseMs);
  }
});

test("news are numbered without a gap, and a reader that has seen one has missed none before it", async () => {
  const url = server.url();
  const stores = await Promise.all(Array.from({ length: 4 }, () => openStore(url)));
  const reader = await openStore(url);
  const seen: number[] = [];
  let isTelling = true;
  const reading = (async () => {
    while (isTelling || (await reader.lastNews()) > seen.length) {
      for (const { seq } of await reader.newsAfter(seen.at(-1) ?? 0, 7)) seen.push(seq);
    }
  })();
  const told = await Promise.all(
    stores.flatMap((store, i) => Array.from({ length: 25 }, (_, n) => store.tell("revoked", { by: i, n }))),
  );
  isTelling = false;
  await reading;
  expect(seen).toEqual(Array.from({ length: 100 }, (_, i) => i + 1));
  expect(told.toSorted((a, b) => a - b)).toEqual(seen);
  const [first] = await reader.newsAfter(told[1] as number, 1);
  expect(first).toMatchObject({ kind: "revoked", body: { by: expect.any(Number) } });
  await reader.trim(10);
  expect((await reader.newsAfter(0, 100)).map(({ seq }) => seq)).toEqual(seen.slice(-10));
});

/** A gateway as far as topics are concerned: it knows under which epoch it owns which of them. */
async function openGateway(url: string, id: string) {
  const session = await openSession(url);
  const [store, owners] = [createPostgresClusterStore(session), createPostgresTopicOwners(session)];
  const epochs = new Map<string, number>();
  const log = await createPostgresTopicLog({ url, epochOf: (topic) => epochs.get(topic) });
  onTestFinished(() => log.close());
  const number = await store.join(gatewayOf(id), leaseMs);
  return {
    log,
    store,
    number,
    owners,
    async claim(topic: string): Promise<boolean> {
      await log.createTopic(topic);
      const { owner, epoch } = await owners.claim(topic, number);
      if (owner === number) epochs.set(topic, epoch);
      return owner === number;
    },
  };
}

const outcomes = async (log: TopicLog, ids: readonly string[], topic = "room") =>
  (await Promise.all(ids.map((id) => log.append(newEntry({ topic, id }))))).map((appended) =>
    appended.outcome === "appended" ? appended.seq : appended.outcome,
  );

test("a topic has one owner; one whose lease has ended stores nothing more once another has taken the topic", async () => {
  const url = server.url();
  const [ada, bob] = [await openGateway(url, "ada"), await openGateway(url, "bob")];
  expect([await ada.claim("room"), await bob.claim("room"), await ada.claim("room")]).toEqual([
    true,
    false,
    true,
  ]);
  expect(await outcomes(ada.log, ["1", "2"])).toEqual([1, 2]);
  expect(await outcomes(bob.log, ["not mine"])).toEqual(["fenced"]);
  await bob.claim("other");
  // Paused: it does not know that its lease has ended, nor that the topic is another's.
  await bob.store.end(ada.number);
  expect(await outcomes(ada.log, ["3"])).toEqual([3]);
  expect(await bob.claim("room")).toBe(true);
  expect(await outcomes(ada.log, ["4", "5"])).toEqual(["fenced", "fenced"]);
  // What shares a statement with it is stored all the same.
  const both = await Promise.all([outcomes(bob.log, ["6"]), outcomes(bob.log, ["x"], "other")]);
  expect(both).toEqual([[4], [1]]);
  expect(await outcomes(ada.log, ["6", "7"])).toEqual(["fenced", "fenced"]);
  const kept = await bob.log.read("room", { limit: 10, order: "oldest_first" });
  expect(kept.map(({ seq, id }) => [seq, id])).toEqual([
    [1, "1"],
    [2, "2"],
    [3, "3"],
    [4, "6"],
  ]);
  await expect(ada.claim("room")).rejects.toThrow("lease of this gateway has ended");
});

test("control: a log that names no epoch goes on writing to a topic that is another's", async () => {
  const url = server.url();
  const bob = await openGateway(url, "bob");
  const unfenced = await createPostgresTopicLog({ url });
  onTestFinished(() => unfenced.close());
  await bob.claim("room");
  expect(await outcomes(unfenced, ["1"])).toEqual([1]);
});

test("of many gateways that claim a topic at once one gets it, and a released one is free", async () => {
  const url = server.url();
  const gateways = await Promise.all(Array.from({ length: 5 }, (_, i) => openGateway(url, `g${i}`)));
  for (let round = 0; round < 6; round += 1) {
    const taken = await Promise.all(gateways.map((gateway) => gateway.claim("room")));
    expect(taken.filter(Boolean)).toHaveLength(1);
    const owner = gateways[taken.indexOf(true)];
    expect(await outcomes(owner?.log as TopicLog, [`round ${round}`])).toEqual([round + 1]);
    await owner?.owners.release(["room"], owner.number);
  }
});

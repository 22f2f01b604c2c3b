// One gateway to a store on PostgreSQL: who comes second is refused by name, who was killed is waited for.
import {
  clusterOnPostgres,
  createLogger,
  createPostgresClusterStore,
  migratePostgres,
  openPostgresSession,
  readPostgresAddress,
} from "@mcpx/host";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { holdStore } from "../../packages/cli/src/stores/hold-store.ts";
import { startPostgres } from "../support/postgres-server.ts";

const server = await startPostgres();
afterAll(() => server[Symbol.asyncDispose]());

const log = createLogger({ level: "silent" });
const leaseMs = 400;

async function openStore(schema: string) {
  const address = readPostgresAddress(server.url(schema));
  await migratePostgres(address, clusterOnPostgres);
  const session = await openPostgresSession(address);
  onTestFinished(() => session.close());
  const store = createPostgresClusterStore(session);
  const told: string[] = [];
  const hold = () =>
    holdStore({
      ...{ store, log, leaseMs },
      onLost: () => told.push("lost"),
      onBack: () => told.push("back"),
      onFailure: ({ message }) => told.push(message),
    });
  return { store, hold, told };
}

/** As one that lives, or was killed, has it: it says that it lives only once. */
async function join(store: Awaited<ReturnType<typeof openStore>>["store"], leftMs: number): Promise<number> {
  const number = await store.join({ id: "other", address: "", version: "0" }, leftMs);
  expect(await store.hold("gateway", number)).toBe(true);
  return number;
}

test("[B-SCALE-1] two gateways are not started on one store; when the first has ended, the next may", async () => {
  const { hold, store } = await openStore("two");
  const first = await hold();
  await expect(hold()).rejects.toThrow(/the gateway \S+:\d+ uses this PostgreSQL store; stop it/);
  expect(await store.gateways()).toHaveLength(1);
  await first[Symbol.asyncDispose]();
  await (await hold())[Symbol.asyncDispose]();
});

test("[B-SCALE-1] a gateway that was killed is waited for as long as its lease lasts, by the clock of the engine", async () => {
  const { hold, store } = await openStore("killed");
  await join(store, leaseMs);
  await (await hold())[Symbol.asyncDispose]();
});

test("[B-SCALE-1] a lease that ended is taken again; where another has the store, this gateway has failed", async () => {
  const { hold, store, told } = await openStore("lost");
  const held = await hold();
  onTestFinished(() => held[Symbol.asyncDispose]());
  const [own] = await store.gateways();
  await store.end(own?.number ?? 0);
  await expect.poll(() => told).toEqual(["lost", "back"]);
  const [again] = await store.gateways();
  await store.end(again?.number ?? 0);
  await join(store, 60_000);
  await expect
    .poll(() => told.slice(2))
    .toEqual(["lost", expect.stringContaining("the gateway other uses this")]);
});

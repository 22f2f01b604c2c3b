// The disk is full: publishes are refused and nothing of them is kept, reads go on, and with room it goes on by itself.
import { appendFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { enterWith } from "../support/enter.ts";
import type { TestClient } from "../support/test-client.ts";
import { mayMount, newDirectory, newSmallDisk } from "./support/disk.ts";
import { readTopic } from "./support/examine.ts";
import { type ServerProcess, startServerProcess } from "./support/server-process.ts";
import { scale, timeout } from "./support/soak.ts";
import { mintTokens } from "./support/tokens.ts";

const isStrong = mayMount();
const disk = isStrong ? "a full disk" : "a full store (weaker: no small disk without root and mounts)";
const topic = "room:full";

interface Store {
  dataDir: string;
  pagesMax: number | undefined;
  fill(): void;
  free(): void;
}

function smallDisk(): Store {
  const path = newSmallDisk(`${scale(16, 256)}m`);
  const ballast = join(path, "ballast");
  const fillBy = (bytes: number) => {
    try {
      for (;;) appendFileSync(ballast, Buffer.alloc(bytes));
    } catch (error) {
      expect(error).toMatchObject({ code: "ENOSPC" });
    }
  };
  const fill = () => [65_536, 1].forEach(fillBy);
  return { dataDir: join(path, "data"), pagesMax: undefined, fill, free: () => rmSync(ballast) };
}

/** A bound of the store takes the place of the disk's; another table in it, that of the ballast. */
function smallStore(): Store {
  const dataDir = newDirectory();
  const pagesMax = 100;
  const change = (sql: string) => {
    using db = new DatabaseSync(join(dataDir, "topics.db"), { timeout: 5_000 });
    db.exec(sql);
  };
  return {
    dataDir,
    pagesMax,
    fill: () => change(`CREATE TABLE ballast AS SELECT zeroblob(${pagesMax * 4_096})`),
    free: () => change("DROP TABLE ballast"),
  };
}

interface House {
  store: Store;
  server: ServerProcess;
  tokens: { ada: string; guest: string; admin: string };
  ada: TestClient;
  demote(level: string): Promise<Response>;
}

async function openHouse(store = isStrong ? smallDisk() : smallStore()): Promise<House> {
  const [ada = "", guest = "", admin = ""] = await mintTokens(store.dataDir, [
    { sub: "ada", topics: [topic], level: "full" },
    { sub: "guest", topics: [topic], level: "full" },
    { sub: "admin", topics: ["**"], admin: true },
  ]);
  const server = await startServerProcess({ dataDir: store.dataDir, topicLog: { pagesMax: store.pagesMax } });
  return {
    store,
    server,
    tokens: { ada, guest, admin },
    ada: await enterWith(server, ada, { topic }),
    demote: (level) =>
      fetch(`${server.url}/admin/participants/guest/demote?level=${level}`, {
        method: "POST",
        headers: { authorization: `Bearer ${admin}` },
      }),
  };
}

const text = "x".repeat(2_000);
/** Something only a full participant may say. */
const request = { kind: "mcp", to: ["ada"], payload: { jsonrpc: "2.0", id: 1, method: "tools/list" } };

/** Says ten envelopes at once; what became of each, by id. */
async function say(client: TestClient, ids: readonly string[]): Promise<Map<string, string>> {
  const outcomes = new Map<string, string>();
  for (const id of ids) client.say(text, { id });
  while (outcomes.size < ids.length) {
    const { correlation_id: id, payload } = await client.find((message) =>
      ids.includes(message.correlation_id),
    );
    outcomes.set(id, payload.error?.data.reason ?? payload.reason ?? payload.event);
  }
  return outcomes;
}

const some = (name: string) => Array.from({ length: 10 }, (_, n) => `${name}-${n}`);
const idsWith = (outcome: string, outcomes: ReadonlyMap<string, string>) =>
  [...outcomes].filter(([, each]) => each === outcome).map(([id]) => id);

/** Until there is room for none of ten: what is on the disk already may still be used a while. */
async function sayUntilRefused(client: TestClient, name: string): Promise<Map<string, string>> {
  const all = new Map<string, string>();
  for (let n = 0; ; n += 1) {
    const outcomes = await say(client, some(`${name}${n}`));
    for (const [id, outcome] of outcomes) all.set(id, outcome);
    if (idsWith("ack", outcomes).length === 0) return all;
  }
}

test(`${disk} refuses publishes whole, lets reads go on, and needs no restart`, { timeout }, async () => {
  const { store, server, tokens, ada } = await openHouse();
  const keptIds = async () => (await readTopic(server.url, tokens.ada, topic)).map(({ id }) => id);
  let expected = idsWith("ack", await say(ada, some("before")));
  expect(expected).toHaveLength(10);
  for (let round = 0; round < scale(3, 100); round += 1) {
    store.fill();
    const outcomes = await sayUntilRefused(ada, `full${round}-`);
    const refused = idsWith("storage_full", outcomes);
    expected = [...expected, ...idsWith("ack", outcomes)];
    expect(refused.length + idsWith("ack", outcomes).length).toBe(outcomes.size);
    expect(await keptIds()).toEqual(expected);

    expect((await fetch(`${server.url}/readyz`)).status).toBe(200);
    const guest = await enterWith(server, tokens.guest, { topic, history: "5" });
    expect(guest.welcome.payload.history.envelopes).toHaveLength(5);
    expect((await ada.event("join")).payload.participant.id).toBe("guest");
    await guest.leave();

    store.free();
    expect(idsWith("ack", await say(ada, refused))).toEqual(refused);
    expected = [...expected, ...refused];
    expect(await keptIds()).toEqual(expected);
  }
});

test.runIf(isStrong)(
  "a full disk does not confirm an admin's decision it cannot keep",
  { timeout },
  async () => {
    const { store, server, tokens, demote } = await openHouse();
    const guest = await enterWith(server, tokens.guest, { topic });
    store.fill();
    const refusal = await demote("restricted");
    expect(refusal.status).toBe(507);
    expect(await refusal.json()).toMatchObject({ error: { reason: "storage_full" } });
    expect(await guest.outcome(guest.send(request))).not.toBe("privilege_violation");

    store.free();
    expect((await demote("restricted")).status).toBe(200);
    expect(await guest.outcome(guest.send(request))).toBe("privilege_violation");
    await server.kill();
    const again = await startServerProcess({ dataDir: store.dataDir });
    const { welcome } = await enterWith(again, tokens.guest, { topic });
    expect(welcome.payload.participant.privilege).toBe("restricted");
  },
);

test("control: with room everything is acknowledged and confirmed", { timeout }, async () => {
  const { server, tokens, ada, demote } = await openHouse();
  const outcomes = await say(ada, some("room"));
  expect(idsWith("ack", outcomes)).toHaveLength(10);
  await enterWith(server, tokens.guest, { topic });
  expect((await demote("restricted")).status).toBe(200);
});

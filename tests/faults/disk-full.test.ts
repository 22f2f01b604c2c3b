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
  const path = newSmallDisk("16m");
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

/** Says so many, all at once; what became of each, by id. */
async function say(client: TestClient, ids: readonly string[]): Promise<Map<string, string>> {
  for (const id of ids) client.say(text, { id });
  const outcomes = new Map<string, string>();
  for (const id of ids) outcomes.set(id, await client.outcome(id));
  return outcomes;
}

const some = (name: string) => Array.from({ length: 10 }, (_, n) => `${name}-${n}`);
const with_ = (outcomes: Map<string, string>, outcome: string) =>
  [...outcomes].filter(([, each]) => each === outcome).map(([id]) => id);

// kill -9 of the command users run, under load: an ack is a promise that is kept.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createIdentity, createLogger, createSqliteIdentityStore, openState, systemClock } from "@mcpx/host";
import { expect, test, vi } from "vitest";
import { scratch, start } from "../cli/support/mcpx-process.ts";
import { enterWith } from "../support/enter.ts";
import type { Seen, TestClient } from "../support/test-client.ts";

const topic = "room:kill";
const ids = ["ada", "bob", "cyd"];

/** The data directory, with a rate that lets a few connections make load. */
function prepare(): string {
  const dataDir = join(scratch(), "data");
  mkdirSync(dataDir, { mode: 0o700 });
  const limits = { envelopesPerSecondFull: 100_000, queueEnvelopesMax: 100_000 };
  writeFileSync(join(dataDir, "mcpx.json"), JSON.stringify({ limits }));
  return dataDir;
}

async function mint(dataDir: string): Promise<string[]> {
  const db = openState(join(dataDir, "state.db"));
  const identity = await createIdentity({
    store: createSqliteIdentityStore(db),
    clock: systemClock,
    log: createLogger({ level: "silent" }),
  });
  const mintOne = (sub: string) =>
    identity.tokens.mint({ sub, topics: [topic], level: "full" }, { ttlMs: 600_000 });
  const tokens = await Promise.all(ids.map(async (sub) => (await mintOne(sub)).token));
  identity.close();
  db.close();
  return tokens;
}

async function up(dataDir: string) {
  const command = start(["up", "--port", "0", "--data", dataDir, "--json"], { cwd: dataDir });
  const { url, pid } = JSON.parse(await command.line(/^\{"url"/));
  return { command, url: url as string, pid: pid as number };
}

/** Publishes faster than it is answered; `unacked` is what it would send again. */
class Publisher {
  readonly acked = new Map<string, number>();
  readonly unacked = new Set<string>();
  #count = 0;

  publish(client: TestClient, count: number): void {
    for (let i = 0; i < count; i += 1) {
      this.#count += 1;
      const id = `${client.id}-${this.#count}`;
      this.unacked.add(id);
      client.say(id, { id });
    }
  }

  attach(client: TestClient): void {
    client.ws.on("message", (data) => {
      const { payload } = JSON.parse(String(data));
      if (payload.event !== "ack") return;
      this.acked.set(payload.id, payload.seq);
      this.unacked.delete(payload.id);
    });
  }
}

async function history(url: string, token: string): Promise<Map<string, number>> {
  const all: Seen[] = [];
  let next: string | undefined = `/v0/topics/${topic}/history?limit=1000`;
  while (next !== undefined) {
    const response: Response = await fetch(`${url}${next}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const body = (await response.json()) as Seen;
    all.push(...body.envelopes);
    next = body.next;
  }
  const seqs = all.map(({ seq }) => seq).reverse();
  expect(seqs, "dense from 1").toEqual(seqs.map((_, i) => i + 1));
  return new Map(all.map(({ id, seq }) => [id, seq]));
}

test("[B-DUR-1] [X0-4-3] everything acked is there after kill -9, and what is sent again is there once", {
  timeout: 90_000,
}, async () => {
  const dataDir = prepare();
  const tokens = await mint(dataDir);
  const publishers = ids.map(() => new Publisher());
  let { url, pid, command } = await up(dataDir);
  for (let round = 1; round <= 3; round += 1) {
    const clients = await Promise.all(tokens.map((token) => enterWith({ url }, token, { topic })));
    const wanted = publishers.map(({ acked }) => acked.size + 150);
    for (const [i, client] of clients.entries()) {
      publishers[i]?.attach(client);
      for (const id of publishers[i]?.unacked ?? []) client.say(id, { id });
    }
    const talking = setInterval(() => {
      for (const [i, client] of clients.entries()) publishers[i]?.publish(client, 10);
    }, 2);
    await vi.waitUntil(() => publishers.every(({ acked }, i) => acked.size >= (wanted[i] ?? 0)), 20_000);
    process.kill(pid, "SIGKILL");
    clearInterval(talking);
    await Promise.all([command.ended, ...clients.map((client) => client.closing())]);
    ({ url, pid, command } = await up(dataDir));
    const kept = await history(url, tokens[0] ?? "");
    for (const { acked } of publishers) {
      for (const [id, seq] of acked) expect(kept.get(id), `round ${round}: ${id}`).toBe(seq);
    }
  }
  // Whoever comes back sends the rest again: nothing is lost, and nothing is there twice.
  for (const [i, token] of tokens.entries()) {
    const client = await enterWith({ url }, token, { topic });
    publishers[i]?.attach(client);
    for (const id of publishers[i]?.unacked ?? []) client.say(id, { id });
  }
  await vi.waitUntil(() => publishers.every(({ unacked }) => unacked.size === 0), 20_000);
  const kept = await history(url, tokens[0] ?? "");
  const sent = publishers.flatMap(({ acked }) => [...acked.keys()]);
  expect([...kept.keys()].sort()).toEqual(sent.sort());
});

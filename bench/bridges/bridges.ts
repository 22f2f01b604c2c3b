// What a bridge costs: linked people in a room, each with a connection of their own, beside as many plain members; and how
// soon a proposal is on its platform, which is Slack's fixture on loopback.
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import {
  bridgeMigrations,
  createSlackPlatform,
  createSqliteStore,
  issueCode,
  type Platform,
} from "@mcpx/bridges";
import { joinRoom } from "@mcpx/client";
import { openDatabase, type Principal } from "@mcpx/host";
import {
  createFixturePlatform,
  fixtureChannel,
} from "../../packages/bridges/src/testing/fixture-platform.ts";
import { slackTokens, startSlackWorkspace } from "../../tests/bridges/support/slack-workspace.ts";
import { startTestServer, type TestServer } from "../../tests/support/test-server.ts";
import { percentile } from "../rooms/load.ts";
import { sized } from "../sizes.ts";

const people = sized(500, 5);
const messages = sized(300, 5);
const rounds = sized(5, 1);
const proposals = sized(15, 2);
const topic = "ops";
const goals = { memoryMB: 50, cpuRatio: 2, shownMs: 200 };

export async function benchBridges(note: (line: string) => void): Promise<Record<string, unknown>> {
  note("bridges: warm-up");
  await measureRoom(linkPeople);
  note(`bridges: ${people} plain members`);
  const plain = await measureRoom(enterPlain);
  note(`bridges: ${people} linked people`);
  const linked = await measureRoom(linkPeople);
  note("bridges: proposals on Slack's fixture");
  const shownMs = await measureProposals();
  const [p50, p99] = [percentile(shownMs, 50), percentile(shownMs, 99)];
  return {
    people,
    plain,
    linked,
    shownMs: { p50: round2(p50), p99: round2(p99) },
    ratio: {
      memory_vs_goal: round2(linked.rssMB / goals.memoryMB),
      cpu_vs_plain: round2(linked.cpuMs / plain.cpuMs),
      shown_vs_goal: round2(p99 / goals.shownMs),
    },
  };
}

type Fill = (server: TestServer, say: ReturnType<typeof createFixturePlatform>["say"]) => Promise<void>;

async function measureRoom(fill: Fill): Promise<{ heapMB: number; rssMB: number; cpuMs: number }> {
  const fixture = createFixturePlatform({ pace: { perSecond: 100_000, burst: 100_000 } });
  const server = await startBridged(fixture.open, fixtureChannel);
  try {
    const bob = await joinAs(server, "bob");
    const before = memoryMB();
    await fill(server, fixture.say);
    while (bob.peers.length < people) await wait(20);
    const after = memoryMB();
    const costs: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const from = process.cpuUsage();
      for (let i = 0; i < messages; i += 1) await bob.say(`message ${i} of round ${round}`);
      const { user, system } = process.cpuUsage(from);
      costs.push((user + system) / 1_000 / messages);
    }
    await bob.close();
    return {
      heapMB: round2(after.heap - before.heap),
      rssMB: round2(after.rss - before.rss),
      cpuMs: round2(
        percentile(
          costs.toSorted((a, b) => a - b),
          50,
        ),
      ),
    };
  } finally {
    await server.stop();
  }
}

/** Members in the same process whose ends read nothing: what the gateway itself costs. */
async function enterPlain({ rooms }: TestServer): Promise<void> {
  for (let i = 0; i < people; i += 1) {
    const id = `person${i}`;
    const principal: Principal = {
      ...{ id, kind: "human", topics: [topic], level: "full", levelMax: "full", tools: [], admin: false },
      ...{ expiresAt: Number.MAX_SAFE_INTEGER, jti: id, issuer: "bench", tokenHash: "" },
    };
    const end = await rooms.enter(principal, new URLSearchParams({ topic, protocol: "mcpx/v0.1" }));
    end.onmessage = () => {};
  }
}

/** Each says a word, which opens their connection. */
async function linkPeople(server: TestServer, say: Parameters<Fill>[1]): Promise<void> {
  const db = openDatabase(join(server.dataDir, "state.db"), {
    component: "bridges",
    migrations: bridgeMigrations,
  });
  const store = createSqliteStore(db);
  for (let i = 0; i < people; i += 1) {
    const made = await issueCode(
      store,
      { bridge: "team", participant: `person${i}`, level: "full" },
      Date.now(),
    );
    await say(`user${i}`, `link ${made?.code}`, { channel: "" });
    await say(`user${i}`, "here");
  }
  db.close();
}

async function measureProposals(): Promise<number[]> {
  const workspace = await startSlackWorkspace();
  let shown = Promise.withResolvers<void>();
  const open = (): Platform => {
    const platform = createSlackPlatform({
      botToken: () => slackTokens.bot,
      appToken: () => slackTokens.app,
      apiUrl: workspace.apiUrl(),
    });
    const post: Platform["post"] = async (...given) => {
      const ref = await platform.post(...given);
      shown.resolve();
      return ref;
    };
    return { ...platform, post };
  };
  const server = await startBridged(open, workspace.channel);
  try {
    const agent = await joinAs(server, "agent");
    const taken: number[] = [];
    for (let i = 0; i < proposals; i += 1) {
      shown = Promise.withResolvers();
      const payload = { method: "tools/call", params: { name: "move", arguments: { where: `dock ${i}` } } };
      await agent.publish({ kind: "mcp/proposal", to: ["robot"], payload });
      const acknowledgedAt = performance.now();
      await shown.promise;
      taken.push(performance.now() - acknowledgedAt);
      // Slack takes one a second.
      await wait(sized(1_100, 10));
    }
    await agent.close();
    return taken.toSorted((a, b) => a - b);
  } finally {
    await server.stop();
    await workspace.close();
  }
}

async function startBridged(open: () => Platform, channel: string): Promise<TestServer> {
  const bridge = {
    name: "team",
    kind: "slack",
    channels: new Map([[channel, topic]]),
    unlinked: "read",
    reach: "",
    open,
  } as const;
  const server = await startTestServer({
    bridges: [bridge],
    limits: { envelopesPerSecondFull: 100_000, handshakesPerSecond: 100_000 },
  });
  await server.bridges.ready;
  return server;
}

async function joinAs(server: TestServer, id: string) {
  const token = await server.token({ sub: id, topics: [topic], level: "full" });
  return joinRoom({ url: server.url, topic, token });
}

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

function memoryMB(): { heap: number; rss: number } {
  collect();
  const { heapUsed, external, rss } = process.memoryUsage();
  return { heap: (heapUsed + external) / 1_000_000, rss: rss / 1_000_000 };
}

function round2(value: number): number {
  return Math.round(value * 100) / 100;
}

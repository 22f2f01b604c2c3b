// What every measurement begins with: a data directory with tokens and old history, copied for each gateway, and a
// gateway of its own process on it, started as users start it (`mcpx up`).
import { randomUUID } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createSqliteTopicLog } from "@mcpx/gateway";
import {
  createIdentity,
  createLogger,
  createSqliteIdentityStore,
  openState,
  systemClock,
  type TokenClaims,
} from "@mcpx/host";
import { mcpx, readUrl } from "../hop/ours.ts";
import { freePort, type Started, startCommand } from "../hop/started.ts";
import { sized } from "../sizes.ts";
import type { TurnFigures } from "./turn-meter.ts";

/** Envelopes in the room that history is read from and resumed. */
const oldEnvelopes = sized(20_000, 1_000);
/** Rooms the attacker may see, each with one envelope. */
const oldRooms = sized(1_000, 10);
const toolsOfTree = sized(1_000, 20);
/** Every 10 ms: an event loop that is held that long is told of by the other figures. */
const turnsTriesMax = 1_000;

const claims = {
  victim: { sub: "victim", topics: ["yard"], level: "full", kind: "robot" },
  guest: { sub: "guest", topics: ["hall"], level: "full", kind: "human" },
  server: { sub: "honest-server", topics: [], segment: "honest", scope: "read" },
  /** One token, with what a stranger may be given: rooms of its own, tools, a segment. No admin, no level. */
  attacker: {
    sub: "attacker",
    topics: ["lab/**", "yard"],
    level: "restricted",
    tools: ["**"],
    segment: "evil",
    scope: "write",
  },
} as const satisfies Record<string, TokenClaims>;

export type Tokens = Record<keyof typeof claims, string>;

export interface Gateway {
  readonly url: string;
  readonly pid: number;
  readonly dataDir: string;
  hasEnded(): boolean;
  readonly ended: Promise<unknown>;
  lastWords(): string;
  /** The most it has ever had; of a process that is gone, the last that was seen. */
  rssMaxBytes(): number;
  /** Of its event loop, since this was asked last; `undefined` where it does not say any more. */
  turns(): Promise<TurnFigures | undefined>;
  stop(): Promise<void>;
}

interface StartOptions {
  /** Replaces keys of the configuration. */
  config?: object;
  /** Of Node, before the program. */
  nodeArgs?: readonly string[];
}

export interface Scene {
  readonly tokens: Tokens;
  /** Where a device of the configuration is looked for. */
  readonly devicePort: number;
  start(options?: StartOptions): Promise<Gateway>;
  end(): void;
}

export async function makeScene(): Promise<Scene> {
  const dir = mkdtempSync(join(tmpdir(), "mcpx-bench-fairness-"));
  const end = () => rmSync(dir, { recursive: true, force: true });
  // Also where somebody interrupts it.
  process.on("exit", end);
  const template = join(dir, "template");
  mkdirSync(template, { mode: 0o700 });
  const tokens = await mintAll(template);
  await prefill(join(template, "topics.db"));
  const devicePort = await freePort();
  return {
    tokens,
    devicePort,
    start: ({ config = {}, nodeArgs = [] } = {}) =>
      startGateway(dir, template, { ...configOf(devicePort), ...config }, nodeArgs),
    end,
  };
}

async function mintAll(dataDir: string): Promise<Tokens> {
  const db = openState(join(dataDir, "state.db"));
  const identity = await createIdentity({
    store: createSqliteIdentityStore(db),
    clock: systemClock,
    log: createLogger({ level: "warn" }),
  });
  const minted: Partial<Tokens> = {};
  for (const [name, claim] of Object.entries(claims)) {
    const { token } = await identity.tokens.mint(claim as TokenClaims, { ttlMs: 6 * 3_600_000 });
    minted[name as keyof Tokens] = token;
  }
  identity.close();
  db.close();
  return minted as Tokens;
}

async function prefill(path: string): Promise<void> {
  const log = await createSqliteTopicLog({ path });
  const topics = Array.from({ length: oldEnvelopes + oldRooms }, (_, i) =>
    i < oldEnvelopes ? "lab/full" : `lab/old-${i}`,
  );
  await Promise.all(topics.map((topic) => log.append(oldEnvelope(topic))));
  await log.close();
}

function oldEnvelope(topic: string) {
  const id = randomUUID();
  const at = Date.now();
  const text = JSON.stringify({
    protocol: "mcpx/v0.1",
    id,
    ts: new Date(at).toISOString(),
    from: "earlier",
    kind: "chat",
    payload: { text: "and so on ".repeat(20), format: "plain" },
  });
  return { topic, id, from: "earlier", at, digest: "d".repeat(43), text };
}

function configOf(devicePort: number): object {
  return {
    // Only a `full` participant has more: the victim may send a hundred a second, and catch up after a stall.
    limits: { envelopesPerSecondFull: 1_000 },
    topics: { "lab/scratch/**": { history: false }, "lab/checked": { toolAccess: "enforce" } },
    mcpServers: {
      archive: {
        command: process.execPath,
        args: [new URL("./tools-server.ts", import.meta.url).pathname, String(toolsOfTree)],
      },
    },
    profiles: { search: { tools: ["**"], search: true } },
    devices: {
      board: {
        line: `tcp://127.0.0.1:${devicePort}`,
        profile: "b",
        tools: { read: { id: 1, result: [{ name: "value", type: "uint" }], capability: { mutable: false } } },
      },
    },
    log: { level: "warn" },
  };
}

let started = 0;

async function startGateway(
  dir: string,
  template: string,
  config: object,
  nodeArgs: readonly string[],
): Promise<Gateway> {
  started += 1;
  const own = join(dir, String(started));
  const dataDir = join(own, "data");
  mkdirSync(own);
  cpSync(template, dataDir, { recursive: true });
  const path = join(own, "mcpx.json");
  writeFileSync(path, JSON.stringify(config));
  const turnsPath = join(own, "turns.json");
  const meter = new URL(`./turn-meter.ts?out=${encodeURIComponent(turnsPath)}`, import.meta.url).href;
  const args = [
    ...nodeArgs,
    "--import",
    meter,
    ...mcpx,
    "up",
    "--port",
    "0",
    "--json",
    "--data",
    dataDir,
    "--config",
    path,
  ];
  const process = startCommand(args, { cwd: own });
  const url = await readUrl(process);
  if (url === undefined) throw new Error(`mcpx up: ${process.lastWords()}`);
  let rssMax = 0;
  const look = () => {
    rssMax = Math.max(rssMax, peakOf(process.pid));
    return rssMax;
  };
  const timer = setInterval(look, 100);
  return {
    ...process,
    url,
    dataDir,
    rssMaxBytes: look,
    turns: () => readTurns(process, turnsPath),
    async stop() {
      clearInterval(timer);
      await process.stop();
      rmSync(own, { recursive: true, force: true });
    },
  };
}

async function readTurns({ pid, hasEnded }: Started, path: string): Promise<TurnFigures | undefined> {
  rmSync(path, { force: true });
  if (hasEnded()) return undefined;
  process.kill(pid, "SIGUSR2");
  for (let tries = 0; tries < turnsTriesMax && !hasEnded(); tries += 1) {
    if (existsSync(path)) return JSON.parse(readFileSync(path, "utf8"));
    await sleep(10);
  }
  return undefined;
}

/** 0 where the process is gone. */
function peakOf(pid: number): number {
  try {
    const kilobytes = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return Number(kilobytes ?? 0) * 1024;
  } catch {
    return 0;
  }
}

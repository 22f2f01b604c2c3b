// Gateways that share one PostgreSQL, each a process of its own on a port that it keeps.
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import {
  createIdentity,
  createLogger,
  createPostgresIdentityStore,
  createSeal,
  type Identity,
  openPostgresSession,
  readPostgresAddress,
  systemClock,
  type TokenClaims,
} from "@mcpx/host";
import { freePort } from "../../support/free-port.ts";

export interface ClusterMember {
  readonly url: string;
  /** Of a room, for clients. */
  room(topic: string): string;
  /** What it has logged. */
  readonly logged: string[];
  signal(signal: NodeJS.Signals): void;
  /** Ends it as its operator does; resolves once it is gone. */
  stop(): Promise<void>;
  /** `kill -9` */
  kill(): Promise<void>;
  start(): Promise<void>;
}

export interface Cluster extends AsyncDisposable {
  readonly gateways: readonly ClusterMember[];
  /** As another process has it, over the same store. */
  readonly identity: Identity;
  token(claims: TokenClaims): Promise<string>;
}

interface Options {
  store: string;
  count: number;
  leaseMs?: number;
}

const program = join(import.meta.dirname, "gateway.ts");

export async function startCluster({ store, count, leaseMs = 2_000 }: Options): Promise<Cluster> {
  const sealKey = randomBytes(32);
  const gateways: ClusterMember[] = [];
  for (let i = 0; i < count; i += 1) {
    const of = { id: `g${i}`, port: await freePort(), store, leaseMs };
    gateways.push(createMember({ ...of, sealKey: sealKey.toString("base64url") }));
  }
  await Promise.all(gateways.map((gateway) => gateway.start()));
  const session = await openPostgresSession(readPostgresAddress(store));
  const identity = await createIdentity({
    store: createPostgresIdentityStore({ session, seal: createSeal(sealKey) }),
    clock: systemClock,
    log: createLogger({ level: "silent", destination: { write: () => {} } }),
  });
  return {
    gateways,
    identity,
    token: async (claims) => (await identity.tokens.mint(claims, { ttlMs: 600_000 })).token,
    async [Symbol.asyncDispose]() {
      await Promise.all(gateways.map((gateway) => gateway.kill()));
      identity.close();
      await session.close();
    },
  };
}

function createMember(given: { id: string; port: number } & Record<string, unknown>): ClusterMember {
  const logged: string[] = [];
  let child: ChildProcess | undefined;

  async function start(): Promise<void> {
    const args = ["--conditions=mcpx-source", program, JSON.stringify(given)];
    const started = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "pipe"] });
    child = started;
    createInterface({ input: started.stderr }).on("line", (line) => logged.push(line));
    const [line] = await Promise.race([
      once(createInterface({ input: started.stdout }), "line"),
      once(started, "exit").then(() => {
        throw new Error(`the gateway ${given.id} ended: ${logged.slice(-5).join("\n")}`);
      }),
    ]);
    JSON.parse(line as string);
  }

  async function end(how: (child: ChildProcess) => void): Promise<void> {
    const ending = child;
    if (ending === undefined || ending.exitCode !== null || ending.signalCode !== null) return;
    const gone = once(ending, "exit");
    how(ending);
    await gone;
  }

  return {
    url: `http://127.0.0.1:${given.port}`,
    room: (topic) => `ws://127.0.0.1:${given.port}/v0/ws?topic=${encodeURIComponent(topic)}`,
    logged,
    start,
    signal: (signal) => void child?.kill(signal),
    stop: () => end((ending) => void ending.stdin?.end()),
    kill: () => end((ending) => void ending.kill("SIGKILL")),
  };
}

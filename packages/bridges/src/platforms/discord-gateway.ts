// One connection to Discord's gateway that is always there. The library identifies, beats, resumes and comes back by
// itself; where it gives up (a token was replaced, an intent taken away), another one is begun.
import { setTimeout as wait } from "node:timers/promises";
import type { REST } from "@discordjs/rest";
import type { WebSocketManager } from "@discordjs/ws";
import { PlatformError } from "../platform.ts";

export interface DiscordGatewayOptions {
  Manager: typeof WebSocketManager;
  /** Asked for at each beginning. */
  token(): string;
  rest: REST;
  take(event: string, data: unknown): void;
  /** The connection broke, or another one could not be made yet: nothing is heard until `found`. */
  lost(error: unknown): void;
  found(): void;
}

/** Messages of servers, messages in private, and what they say. */
const intents = (1 << 9) | (1 << 12) | (1 << 15);
const readyMs = 15_000;
const goodbyeMs = 1_000;
const retryMs = { min: 1_000, max: 60_000 };

/** Resolves when Discord is ready. */
export async function openDiscordGateway(
  options: DiscordGatewayOptions,
): Promise<{ close(): Promise<void> }> {
  const ending = new AbortController();
  const { signal } = ending;
  let manager: Connection | undefined;
  let renewing: Promise<void> | undefined;

  const connect = async () => {
    const next = createConnection(options);
    let isReady = false;
    next.manager.on("error", () => {
      if (isReady) renew();
    });
    await ready(next);
    isReady = true;
    manager = next;
    // The library comes back by itself: what happens to it is told all the same.
    next.manager.on("socketError", (error) => options.lost(error));
    next.manager.on("closed", () => {
      if (!next.isOver) options.lost(new PlatformError("down", "Discord's gateway closed the connection"));
    });
    next.manager.on("resumed", options.found);
    next.manager.on("ready", options.found);
  };
  const renew = () => {
    if (signal.aborted || renewing !== undefined) return;
    const before = manager;
    manager = undefined;
    renewing = (async () => {
      if (before !== undefined) await goodbye(before);
      for (let attempt = 0; !signal.aborted; attempt += 1) {
        await wait(Math.min(retryMs.min * 2 ** attempt, retryMs.max), undefined, { signal });
        try {
          await connect();
          return options.found();
        } catch (error) {
          options.lost(error);
        }
      }
    })().finally(() => {
      renewing = undefined;
    });
    // It rejects where the bridge is closed while it waits, and for nothing else.
    renewing.catch(() => {});
  };

  await connect();
  return {
    async close() {
      ending.abort();
      await renewing?.catch(() => {});
      if (manager !== undefined) await goodbye(manager);
    },
  };
}

interface Connection {
  manager: WebSocketManager;
  isOver: boolean;
}

function createConnection({ Manager, token, rest, take }: DiscordGatewayOptions): Connection {
  // The library's own place for sessions is shared by all bots of a process.
  let session: Parameters<WebSocketManager["options"]["updateSessionInfo"]>[1] = null;
  const secret = token();
  rest.setToken(secret);
  const manager = new Manager({
    token: secret,
    intents,
    rest,
    shardCount: 1,
    shardIds: [0],
    handshakeTimeout: readyMs,
    helloTimeout: readyMs,
    readyTimeout: readyMs,
    // The library (2.0) cannot be stopped while it waits to come back: it is kept waiting here for ever.
    retrieveSessionInfo: () => (connection.isOver ? new Promise<never>(() => {}) : session),
    updateSessionInfo: (_, info) => {
      session = info;
    },
  });
  const connection: Connection = { manager, isOver: false };
  manager.on("dispatch", ({ t, d }) => take(t, d));
  return connection;
}

async function ready(connection: Connection): Promise<void> {
  const timer = new AbortController();
  try {
    const isThere = await Promise.race([
      connection.manager.connect().then(() => true),
      wait(readyMs, false, { signal: timer.signal }),
    ]);
    if (!isThere) throw new Error("it did not become ready");
  } catch (cause) {
    await goodbye(connection);
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new PlatformError("down", `Discord's gateway cannot be reached: ${why}`, { cause });
  } finally {
    timer.abort();
  }
}

async function goodbye(connection: Connection): Promise<void> {
  connection.isOver = true;
  const timer = new AbortController();
  const gone = Promise.resolve(connection.manager.destroy()).catch(() => {});
  await Promise.race([gone, wait(goodbyeMs, undefined, { signal: timer.signal })]);
  timer.abort();
}

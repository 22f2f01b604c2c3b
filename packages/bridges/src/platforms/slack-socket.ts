// One Socket Mode connection that is always there: a new one before Slack takes the old one away, and after one was lost.
// The library's own reconnecting is switched off: where it fails for good (3.1) it rejects a promise that nobody holds.
import { setTimeout as wait } from "node:timers/promises";
import { isObject } from "@mcpx/protocol";
import type { SocketModeClient } from "@slack/socket-mode";
import type { Logger } from "@slack/web-api";
import { PlatformError } from "../platform.ts";

/** As `slack_event` of the library tells it. */
export interface SlackEnvelope {
  ack(): Promise<void>;
  type: string;
  body: unknown;
}

export interface SlackSocketOptions {
  Client: typeof SocketModeClient;
  /** `xapp-…`, with `connections:write`. Asked for at each connection. */
  appToken(): string;
  apiUrl: string;
  take(envelope: SlackEnvelope): void;
  /** Another connection could not be made yet: it is tried again, and nothing is heard until `found`. */
  lost(error: unknown): void;
  found(): void;
}

const helloMs = 10_000;
const goodbyeMs = 1_000;
const retryMs = { min: 500, max: 30_000 };

/** Resolves when Slack has said hello. */
export async function openSlackSocket(options: SlackSocketOptions): Promise<{ close(): Promise<void> }> {
  const ending = new AbortController();
  const { signal } = ending;
  const open = new Set<SocketModeClient>();
  let renewing: Promise<void> | undefined;

  const connect = async () => {
    const client = createClient(options);
    let isOver = false;
    const over = () => {
      if (isOver) return;
      isOver = true;
      renew();
    };
    client.on("slack_event", options.take);
    // Slack says so some seconds before it closes the connection.
    client.on("ws_message", (data: unknown) => isGoodbye(data) && over());
    await hello(client);
    open.add(client);
    client.on("disconnected", () => {
      open.delete(client);
      over();
    });
  };
  const renew = () => {
    if (signal.aborted || renewing !== undefined) return;
    renewing = again(connect, options, signal).finally(() => {
      renewing = undefined;
      // The new one may have been lost meanwhile.
      if (open.size === 0) renew();
    });
    // It rejects where the bridge is closed while it waits, and for nothing else.
    renewing.catch(() => {});
  };

  await connect();
  return {
    async close() {
      ending.abort();
      await renewing?.catch(() => {});
      await Promise.all([...open].map(goodbye));
    },
  };
}

function createClient({ Client, appToken, apiUrl }: SlackSocketOptions): SocketModeClient {
  return new Client({
    appToken: appToken(),
    autoReconnectEnabled: false,
    logger: silent,
    clientOptions: {
      slackApiUrl: apiUrl,
      retryConfig: { retries: 0 },
      rejectRateLimitedCalls: true,
      timeout: helloMs,
    },
  });
}

async function hello(client: SocketModeClient): Promise<void> {
  const timer = new AbortController();
  try {
    const isThere = await Promise.race([
      client.start().then(() => true),
      wait(helloMs, false, { signal: timer.signal }),
    ]);
    if (!isThere) throw new Error("no hello message came");
  } catch (cause) {
    await goodbye(client);
    const why = cause instanceof Error ? cause.message : "the connection ended";
    throw new PlatformError("down", `Slack's Socket Mode cannot be reached: ${why}`, { cause });
  } finally {
    timer.abort();
  }
}

/** Slack leaves its end open after the last frame: nobody waits for that. */
async function goodbye(client: SocketModeClient): Promise<void> {
  const timer = new AbortController();
  await Promise.race([client.disconnect(), wait(goodbyeMs, undefined, { signal: timer.signal })]);
  timer.abort();
}

async function again(
  work: () => Promise<void>,
  { lost, found }: Pick<SlackSocketOptions, "lost" | "found">,
  signal: AbortSignal,
): Promise<void> {
  for (let attempt = 0; !signal.aborted; attempt += 1) {
    try {
      await work();
      return found();
    } catch (error) {
      lost(error);
      await wait(Math.min(retryMs.min * 2 ** attempt, retryMs.max), undefined, { signal });
    }
  }
}

function isGoodbye(data: unknown): boolean {
  if (typeof data !== "string" || !data.includes('"disconnect"')) return false;
  try {
    const message: unknown = JSON.parse(data);
    return isObject(message) && message.type === "disconnect";
  } catch {
    return false;
  }
}

/** Everything the library logs is also told by what it does, and some of it has tokens. */
export const silent = {
  debug() {},
  info() {},
  warn() {},
  error() {},
  setLevel() {},
  getLevel: () => "error",
  setName() {},
} as unknown as Logger;

// A gateway, and rooms joined by the client library; all gone after the test.
import { type JoinOptions, joinRoom, type Room, type RoomEventMap, type RoomEventName } from "@mcpx/client";
import type { TokenClaims } from "@mcpx/host";
import { onTestFinished } from "vitest";
import { startTestServer, type TestServer, type TestServerOptions } from "../../support/test-server.ts";

export const topic = "room:kitchen";

/** High enough that no test is slowed by rates it is not about. */
export const wideLimits = {
  handshakesPerSecond: 100_000,
  envelopesPerSecondFull: 100_000,
  envelopesPerSecondRestricted: 100_000,
};

export async function startHouse(options: TestServerOptions = { limits: wideLimits }): Promise<TestServer> {
  const server = await startTestServer(options);
  onTestFinished(() => server.stop());
  return server;
}

export interface EnterOptions
  extends Partial<Omit<TokenClaims, "sub">>,
    Partial<Omit<JoinOptions, "id" | "key">> {
  ttlMs?: number;
}

/** Full unless another level is given. Quick to come back, so that tests are. */
export async function join(server: TestServer, id: string, options: EnterOptions = {}): Promise<Room> {
  const { level = "full", kind, ttlMs, ...more } = options;
  const claims = { sub: id, topics: ["**"], level, ...(kind === undefined ? {} : { kind }) };
  const token = await server.token(claims, ttlMs);
  const room = await joinRoom({
    url: server.url,
    topic,
    token,
    backoff: { minMs: 5, maxMs: 50 },
    ...more,
  });
  onTestFinished(() => room.close());
  return room;
}

/** The next event that fits. */
export function nextEvent<Name extends RoomEventName>(
  room: Room,
  name: Name,
  fits: (detail: RoomEventMap[Name]) => boolean = () => true,
): Promise<RoomEventMap[Name]> {
  return new Promise((resolve) => {
    const listener = ({ detail }: { detail: RoomEventMap[Name] }) => {
      if (!fits(detail)) return;
      room.removeEventListener(name, listener);
      resolve(detail);
    };
    room.addEventListener(name, listener);
  });
}

/** Until somebody is seen here. */
export async function seen(room: Room, id: string): Promise<void> {
  if (room.peers.some((peer) => peer.id === id)) return;
  await nextEvent(room, "presence", ({ event, participant }) => event === "join" && participant.id === id);
}

/** What a promise was rejected with. */
export async function rejection(
  promise: Promise<unknown>,
): Promise<Error & { reason?: string; code?: unknown }> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error("was not rejected");
}

export function textOf(result: { content?: unknown }): string {
  return (result.content as { text: string }[])[0]?.text ?? "";
}

// Somebody enters a room: a token is minted, the connection made, the welcome taken.
import type { TokenClaims } from "@mcpx/host";
import { type HttpRefusal, TestClient } from "./test-client.ts";
import type { TestServer } from "./test-server.ts";

export interface EnterOptions extends Partial<Omit<TokenClaims, "sub">> {
  topic?: string;
  ttlMs?: number;
  /** Further parameters of the address. */
  query?: Record<string, string>;
}

/** Full unless another level is given; `level: undefined` leaves it out of the token. */
export async function enter(
  server: TestServer,
  id: string,
  { topic = "room:test", ttlMs, query = {}, ...claims }: EnterOptions = {},
): Promise<TestClient> {
  const token = await server.token({ sub: id, topics: [topic], level: "full", ...claims }, ttlMs);
  return enterWith(server, token, { topic, ...query });
}

export async function enterWith(
  server: Pick<TestServer, "url">,
  token: string | undefined,
  query: Record<string, string>,
): Promise<TestClient> {
  const client = await TestClient.connect(server.url, token, query);
  client.welcome = await client.event("welcome");
  return client;
}

/** How the endpoint refuses: its status and reason; fails where it does not. */
export async function refusedOnConnect(
  server: Pick<TestServer, "url">,
  token: string | undefined,
  query: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<HttpRefusal> {
  const outcome = await TestClient.connect(server.url, token, query, { headers }).catch(
    (refusal: HttpRefusal) => refusal,
  );
  if (outcome instanceof TestClient) {
    outcome.ws.terminate();
    throw new Error("was let in");
  }
  return outcome;
}

/** Where a client may resume: after everything it was welcomed with or has seen since. */
export function positionOf(client: TestClient, seq: number = client.welcome.payload.history.seq): string {
  return `${client.welcome.payload.history.epoch}:${seq}`;
}

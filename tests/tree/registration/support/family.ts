// Whole servers that register with each other over real sockets: a chain, or any shape a test draws.
import { startTestServer, type TestServer, type TestServerOptions } from "../../../support/test-server.ts";

export interface FamilyMember extends TestServer {
  /** What its parent calls it. */
  readonly segment: string;
}

export interface FamilyOptions extends TestServerOptions {
  heartbeat?: number;
  scope?: "read" | "write" | "admin";
  backups?: readonly TestServer[];
}

/** A server below another, registered there. */
export async function startBelow(
  parent: TestServer,
  segment: string,
  { heartbeat = 1_000, scope = "write", backups = [], config = {}, ...rest }: FamilyOptions = {},
): Promise<FamilyMember> {
  const token = await parent.token({ sub: `tree:${segment}`, topics: [], segment, scope } as never);
  const server = await startTestServer({
    ...rest,
    config: {
      ...config,
      parents: [{ url: parent.url, segment, token, heartbeat, backups: backups.map(({ url }) => url) }],
    },
  });
  return Object.assign(server, { segment });
}

/** The root first; each below the one before it. */
export async function startChain(
  levels: number,
  leaf: TestServerOptions["config"] = {},
): Promise<TestServer[]> {
  const chain: TestServer[] = [await startTestServer(levels === 1 ? { config: leaf } : {})];
  for (let level = 2; level <= levels; level += 1) {
    const config = level === levels ? leaf : {};
    chain.push(await startBelow(chain.at(-1) as TestServer, `n${level}`, { config }));
  }
  return chain;
}

/** Leaves first: nobody comes back to a parent that is just ending. */
export async function stopAll(servers: readonly TestServer[]): Promise<void> {
  for (const server of servers.toReversed()) await server.stop();
}

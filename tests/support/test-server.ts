// A whole server on a free port with a data directory of its own, and tokens for whoever a test needs.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ServerOptions, startServer } from "@mcpx/cli";
import { createIdentity, createLogger, openState, systemClock, type TokenClaims } from "@mcpx/host";
import { defaultLimits, type Limits } from "@mcpx/protocol";

export interface TestServer {
  readonly url: string;
  readonly dataDir: string;
  /** What the server has logged so far. */
  readonly logged: string[];
  token(claims: TokenClaims, ttlMs?: number): Promise<string>;
  adminToken(): Promise<string>;
  /** Calls the REST API; `token` may be left out. */
  call(
    method: string,
    path: string,
    token?: string,
    body?: unknown,
  ): Promise<{ status: number; body: unknown }>;
  /** Stops and starts again on the same data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface TestServerOptions extends Partial<Pick<ServerOptions, "gateway" | "issuers">> {
  limits?: Partial<Limits>;
}

export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const dataDir = mkdtempSync(join(tmpdir(), "mcpx-test-"));
  const logged: string[] = [];
  const log = createLogger({
    level: "debug",
    destination: { write: (line: string) => void logged.push(line) },
  });
  const start = (port: number) =>
    startServer({
      dataDir,
      listen: { host: "127.0.0.1", port },
      gateway: options.gateway ?? {},
      issuers: options.issuers ?? [],
      limits: { ...defaultLimits, ...options.limits },
      log,
    });
  let server = await start(0);
  const { url } = server;
  // Tokens are minted as the command line does it: beside the server, from the same data directory.
  const state = openState(join(dataDir, "state.db"));
  const identity = createIdentity({ db: state, clock: systemClock, log });
  const token = async (claims: TokenClaims, ttlMs = 600_000) =>
    (await identity.tokens.mint(claims, { ttlMs })).token;
  return {
    url,
    dataDir,
    logged,
    token,
    adminToken: () => token({ sub: "admin", topics: ["**"], admin: true }),
    async call(method, path, bearer, body) {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" }),
        },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      const isJson = response.headers.get("content-type")?.startsWith("application/json");
      return { status: response.status, body: isJson ? JSON.parse(text) : text };
    },
    async restart() {
      await server.stop();
      server = await start(Number(new URL(url).port));
    },
    async stop() {
      identity.close();
      state.close();
      await server.stop();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

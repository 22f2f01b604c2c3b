// A whole server on a free port with a data directory of its own, and tokens for whoever a test needs.
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ApproverStore, createFileApproverStore, createPostgresApproverStore } from "@mcpx/aggregator";
import {
  type Config,
  type Rooms,
  type StartedGateway,
  type StartOptions,
  startGateway,
  treeSettings,
} from "@mcpx/cli";
import {
  createIdentity,
  createLogger,
  createPostgresIdentityStore,
  createSeal,
  createSqliteIdentityStore,
  type Identity,
  type IdentityOptions,
  localHeader,
  localProof,
  openPostgresSession,
  openState,
  readPostgresAddress,
  systemClock,
  type TokenClaims,
} from "@mcpx/host";
import { defaultLimits, type Limits } from "@mcpx/protocol";
import { faultOfAnswer } from "./described-answers.ts";
import type { Seen } from "./test-client.ts";

export interface TestServer {
  readonly url: string;
  readonly dataDir: string;
  /** What the server has logged so far. */
  readonly logged: string[];
  /** Keys, tokens and revocations as another process has them, over the same data. */
  readonly identity: Identity;
  /** Whoever is enrolled, as a command beside the server writes them. */
  readonly approvers: ApproverStore;
  /** The way in for those in the same process. */
  readonly rooms: Rooms;
  readonly bridges: StartedGateway["bridges"];
  /** The approvers of now begin anew, all of them unsigned: for tests that are not about who signs whom. */
  forgetApprovers(): Promise<unknown>;
  token(claims: TokenClaims, ttlMs?: number): Promise<string>;
  adminToken(): Promise<string>;
  /** Calls the REST API; `token` may be left out. */
  call(method: string, path: string, token?: string, body?: unknown): Promise<{ status: number; body: Seen }>;
  /** The same as an admin at the gateway's machine, with what a token alone has not. */
  callHere(method: string, path: string, body?: unknown): Promise<{ status: number; body: Seen }>;
  /** Every address it answers at. */
  readonly routes: readonly { method: string; path: string }[];
  /** Stops and starts again on the same data, with other options where they are given. */
  restart(changed?: TestServerOptions): Promise<void>;
  stop(): Promise<void>;
}

export interface TestServerOptions
  extends Partial<
    Pick<
      StartOptions,
      | "gateway"
      | "issuers"
      | "clock"
      | "bridges"
      | "authorization"
      | "logins"
      | "loginAskMs"
      | "store"
      | "auditPush"
      | "tracer"
    >
  > {
  limits?: Partial<Limits>;
  /** The tree, as a configuration has it. */
  config?: Omit<Config, "listen" | "limits" | "issuers">;
  /** A free one unless given. */
  port?: number;
  /** Pages elsewhere that may talk to it. */
  origins?: string[];
}

/** Gates are tested by those who give their own. */
const ungated: NonNullable<Config["gates"]> = { rules: [{ tools: "**", action: "allow" }] };

export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const dataDir = mkdtempSync(join(tmpdir(), "mcpx-test-"));
  const logged: string[] = [];
  const log = createLogger({
    level: "debug",
    destination: { write: (line: string) => void logged.push(line) },
  });
  const { clock = systemClock, store = storeOfTests() } = options;
  const start = (port: number, given: TestServerOptions) => {
    const { gateway = {}, issuers = [], origins = [], bridges = [], limits, config = {} } = given;
    const { authorization, logins, loginAskMs, auditPush, tracer } = given;
    return startGateway({
      tree: treeSettings({ gates: ungated, ...config }, { dir: process.cwd(), env: process.env }),
      dataDir,
      clock,
      listen: { host: "127.0.0.1", port, origins },
      gateway,
      issuers,
      bridges,
      push: { services: [], contact: "mailto:ops@example.com", ...config.push },
      ...(authorization && { authorization }),
      ...(auditPush && { auditPush }),
      ...(tracer && { tracer }),
      ...(logins && { logins }),
      ...(loginAskMs !== undefined && { loginAskMs }),
      limits: { ...defaultLimits, ...limits },
      log,
      ...(store !== undefined && { store }),
    });
  };
  let server = await start(options.port ?? 0, options);
  const { url } = server;
  // Tokens are minted as the command line does it: beside the server, from the same data directory.
  await using beside = new AsyncDisposableStack();
  const stores = await storesBeside(dataDir, store, beside);
  const identity = await createIdentity({ store: stores.identity, clock, log });
  const besides = beside.move();
  const token = async (claims: TokenClaims, ttlMs = 600_000) =>
    (await identity.tokens.mint(claims, { ttlMs })).token;
  return {
    url,
    dataDir,
    logged,
    identity,
    approvers: stores.approvers,
    get rooms() {
      return server.rooms;
    },
    get bridges() {
      return server.bridges;
    },
    forgetApprovers: () => server.authority.chain.reset(),
    token,
    adminToken: () => token({ sub: "admin", topics: ["**"], admin: true }),
    get routes() {
      return server.routes;
    },
    call: (method, path, bearer, body) =>
      ask(url, method, path, bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }, body),
    async callHere(method, path, body) {
      const bearer = await token({ sub: "admin", topics: ["**"], admin: true });
      const shown = { authorization: `Bearer ${bearer}`, [localHeader]: localProof(identity, bearer) };
      return ask(url, method, path, shown, body);
    },
    async restart(changed = options) {
      await server.stop();
      server = await start(Number(new URL(url).port), changed);
    },
    async stop() {
      identity.close();
      await server.stop();
      await besides.disposeAsync();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function ask(url: string, method: string, path: string, shown: Record<string, string>, body: unknown) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...shown, ...(body === undefined ? {} : { "content-type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  const answer = { status: response.status, body: isJson ? JSON.parse(text) : text };
  const fault = faultOfAnswer(method, path, answer);
  if (fault !== undefined) throw new Error(`not as /openapi.json says: ${fault}`);
  return answer;
}

/** Of `npm run soak -- postgres`: every server has its state on this engine, in a schema of its own. */
function storeOfTests(): StartOptions["store"] {
  const url = process.env.MCPX_TEST_STORE;
  if (url === undefined) return undefined;
  return { url: `${url}&schema=t${randomBytes(8).toString("hex")}`, key: randomBytes(32) };
}

/** The same that the server has, as another process opens it. */
async function storesBeside(
  dataDir: string,
  store: StartOptions["store"],
  opened: AsyncDisposableStack,
): Promise<{ identity: IdentityOptions["store"]; approvers: ApproverStore }> {
  if (store === undefined) {
    const state = openState(join(dataDir, "state.db"));
    opened.defer(() => state.close());
    const approvers = createFileApproverStore(join(dataDir, "approvers"));
    return { identity: createSqliteIdentityStore(state), approvers };
  }
  const session = await openPostgresSession(readPostgresAddress(store.url));
  opened.defer(() => session.close());
  return {
    identity: createPostgresIdentityStore({ session, seal: createSeal(store.key) }),
    approvers: createPostgresApproverStore(session),
  };
}

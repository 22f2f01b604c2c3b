// A tree with gates behind a real listener, with the pages where humans decide, and an agent that calls its tools.
import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type AnchorKey,
  anchorKeys,
  approveRoutes,
  createFileApproverStore,
  createGatekeeper,
  createTree,
  type Gatekeeper,
  openSqliteTreeStores,
  type Rule,
} from "@mcpx/aggregator";
import {
  createAudit,
  createIdentity,
  createListener,
  createLogger,
  createSqliteAuditStore,
  createSqliteIdentityStore,
  localHeader,
  localProof,
  openState,
  type PublicJwk,
  signDecision,
  systemClock,
  thumbprint,
} from "@mcpx/host";
import { type Decision, defaultLimits, type GateTerms, type JsonObject, statementOf } from "@mcpx/protocol";
import { anchorOf } from "../../../packages/aggregator/src/gates/store/approver-store.ts";
import {
  inProcessServer,
  serverOptions,
} from "../../../packages/aggregator/src/testing/in-process-server.ts";
import { callerOf } from "../../../packages/aggregator/src/testing/test-tree.ts";
import { approvalPage, consoleFiles } from "../../../packages/cli/src/console/static-files.ts";

export type Waiting = GateTerms & { status: string; approve_url: string };

export interface ApproveServer {
  /** By name, as passkeys need it. */
  readonly origin: string;
  readonly gates: Gatekeeper;
  /** The arguments of all calls that have happened. */
  called(): unknown[];
  /** An agent calls; what it is answered with. */
  call(args: JsonObject, principal?: string): Promise<JsonObject>;
  /** An agent calls, and has to wait. */
  stopped(args: JsonObject, principal?: string): Promise<Waiting>;
  /** A link to become an approver. */
  invite(name: string): Promise<{ status: number; body: JsonObject }>;
  post(
    path: string,
    body: unknown,
    headers?: Record<string, string>,
  ): Promise<{ status: number; body: JsonObject }>;
  /** Somebody decides elsewhere, with a key of their own. */
  sign(terms: GateTerms, decision: Decision, reason?: string): Promise<string>;
  /** Approvers who came meanwhile count from now on. */
  reload(): Promise<void>;
  /** What each passkey has counted, as it is kept. */
  counters(): Promise<[string, number][]>;
  audited(): Promise<(string | undefined)[][]>;
  stop(): Promise<void>;
}

const tool = { name: "wipe", inputSchema: { type: "object" }, annotations: { destructiveHint: true } };

export async function startApproveServer(
  options: { rules?: Rule[]; ttlMs?: number; handle?: Parameters<typeof inProcessServer>[0]["handle"] } = {},
): Promise<ApproveServer> {
  const dir = mkdtempSync(join(tmpdir(), "mcpx-approve-"));
  const log = createLogger({ level: "silent" });
  const path = join(dir, "state.db");
  const db = openState(path);
  const stores = openSqliteTreeStores(path);
  const identity = await createIdentity({ store: createSqliteIdentityStore(db), clock: systemClock, log });
  const audit = createAudit({ store: createSqliteAuditStore(db), clock: systemClock, log });
  const stored = createFileApproverStore(join(dir, "approvers"));
  // As at a gateway whose first approver it is: they count at once.
  const approvers: typeof stored = {
    ...stored,
    async add(approver) {
      await stored.add(approver);
      await reload();
    },
  };
  const operator = keyOf();
  const known = anchorKeys([{ kind: "key", name: "operator", jwk: operator.jwk }]);
  let keys: readonly AnchorKey[] = known;
  const reload = async () => {
    const enrolled = (await stored.list()).approvers.map((one) => anchorOf(one.approver));
    keys = [...known, ...anchorKeys(enrolled, stored.keepCounter)];
  };
  let origin = "";
  const gates = createGatekeeper({
    aggregatorId: "a1",
    store: stores.gates({ clock: systemClock }),
    rules: options.rules ?? [],
    unannotated: "ask",
    anchors: { known: () => keys, now: async () => keys },
    holdMs: 0,
    holdWithProgressMs: 0,
    ttlMs: options.ttlMs,
    approveUrl: (id) => `${origin}/approve/${id}`,
  });
  const server = inProcessServer({ tools: [tool], ...(options.handle && { handle: options.handle }) });
  const tree = createTree({
    name: "test",
    version: "1.0.0",
    servers: [serverOptions("files", server.open, { isTrusted: true })],
    clock: systemClock,
    log,
    audit,
    gates,
    secret: new Uint8Array(32).fill(7),
  });
  const listener = createListener({
    host: "127.0.0.1",
    port: 0,
    limits: defaultLimits,
    log,
    hosts: ["gate.test"],
  });
  const { port } = await listener.start([
    ...approveRoutes({ tree, gates, identity, approvers, audit, page: approvalPage() }),
    ...consoleFiles().routes,
  ]);
  origin = `http://localhost:${port}`;

  const post: ApproveServer["post"] = async (path, body, headers = {}) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    return { status: response.status, body: (await response.json()) as JsonObject };
  };
  const call: ApproveServer["call"] = (args, principal = "agent") =>
    tree.handle({
      caller: callerOf({ principal: { id: principal } }),
      method: "tools/call",
      params: { name: "files.wipe", arguments: args },
      wantsProgress: false,
      paramHeaders: undefined,
      signal: new AbortController().signal,
      notify: () => {},
      ask: async () => ({}),
    });
  return {
    get origin() {
      return origin;
    },
    gates,
    called: () =>
      server.asked.filter(({ method }) => method === "tools/call").map(({ params }) => params.arguments),
    call,
    stopped: async (args, principal) =>
      (await call(args, principal)).structuredContent as Waiting & JsonObject,
    async invite(name) {
      const claims = { sub: "admin", topics: ["**"], admin: true } as const;
      const { token } = await identity.tokens.mint(claims, { ttlMs: 60_000 });
      const here = { authorization: `Bearer ${token}`, [localHeader]: localProof(identity, token) };
      return post("/admin/approvers/enrolments", { name }, here);
    },
    post,
    sign: (terms, decision, reason) =>
      signDecision(statementOf(terms, decision, reason), operator.privateKey, thumbprint(operator.jwk)),
    reload,
    async counters() {
      return (await approvers.list()).approvers.flatMap(({ approver: one }): [string, number][] =>
        "passkey" in one ? [[one.name, one.passkey.counter]] : [],
      );
    },
    async audited() {
      const records = await audit.list({ limit: 100 });
      return records.map(({ action, actor, reason }) => [action, actor, reason]);
    },
    async stop() {
      await listener.close({ graceMs: 100 });
      await tree.close();
      identity.close();
      await audit.close();
      stores[Symbol.dispose]();
      db.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

function keyOf(): { jwk: PublicJwk; privateKey: KeyObject } {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  return { jwk: publicKey.export({ format: "jwk" }) as PublicJwk, privateKey };
}

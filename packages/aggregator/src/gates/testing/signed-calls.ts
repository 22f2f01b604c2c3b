// A tree with one server and one operator for the tests of what is signed: what waits, what is approved, what arrives.
import { generateKeyPairSync } from "node:crypto";
import { type AuditEvent, createManualClock, signDecision, thumbprint } from "@mcpx/host";
import { type Decision, type GateTerms, type JsonObject, roomMethods, statementOf } from "@mcpx/protocol";
import { expect } from "vitest";
import { createSqlitePinStore } from "../../catalogue/pin-store-sqlite.ts";
import type { Profile } from "../../mcp/profile.ts";
import type { ServerOptions } from "../../servers/server.ts";
import { type InProcessServer, inProcessServer, serverOptions } from "../../testing/in-process-server.ts";
import { openTreeState } from "../../testing/open-tree-state.ts";
import { type TestExchange, type TestTree, testTree } from "../../testing/test-tree.ts";
import { createGatekeeper, type Gatekeeper } from "../gatekeeper.ts";
import { anchorKeys } from "../proofs/anchors.ts";
import type { Rule } from "../rules.ts";
import type { GateStore } from "../store/gate-store.ts";
import { createSqliteGateStore } from "../store/gate-store-sqlite.ts";

const operator = generateKeyPairSync("ed25519");
const jwk = operator.publicKey.export({ format: "jwk" }) as never;

export const wipe = (more: JsonObject = {}): JsonObject => ({
  name: "wipe",
  inputSchema: { type: "object", properties: { n: {}, to: {} } },
  annotations: { destructiveHint: true },
  ...more,
});

export type Terms = JsonObject & GateTerms & { status: string };

export interface SignedScene extends TestTree {
  server: InProcessServer;
  gates: Gatekeeper;
  rules: Rule[];
  revoked: Set<string>;
  events: AuditEvent[];
  /** From now on the server has these tools, and says so. */
  retool(tools: readonly JsonObject[]): void;
  /** Its configuration is another from now on. */
  configure(more: Partial<ServerOptions>, profiles?: readonly Profile[]): void;
  /** A call that stops. */
  stop(args?: JsonObject, more?: Partial<TestExchange>): Promise<Terms>;
  sign(terms: GateTerms, decision?: Decision): Promise<string>;
  /** Somebody else than the asker brings the operator's approval. */
  approve(terms: Terms): Promise<JsonObject>;
  /** The names and arguments that the server was called with. */
  arrived(): JsonObject[];
}

export interface SignedSceneOptions {
  store?: GateStore;
  server?: Partial<ServerOptions>;
  isPinned?: boolean;
}

export function signedScene(options: SignedSceneOptions = {}): SignedScene {
  const tools = [wipe()];
  const server = inProcessServer({ tools });
  const rules: Rule[] = [];
  const revoked = new Set<string>();
  const events: AuditEvent[] = [];
  const gates = createGatekeeper({
    aggregatorId: "a1",
    store: options.store ?? createSqliteGateStore({ db: openTreeState(), clock: createManualClock() }),
    rules,
    unannotated: "allow",
    anchors: anchorKeys([{ kind: "key", name: "operator", jwk }]),
    isRevoked: (jti) => revoked.has(jti),
    holdMs: 0,
    holdWithProgressMs: 0,
    approveUrl: (gate) => `http://127.0.0.1/approve/${gate}`,
  });
  const optionsWith = (more: Partial<ServerOptions>) =>
    serverOptions("s", server.open, { isTrusted: true, ...options.server, ...more });
  const record = (event: AuditEvent) => {
    events.push(event);
    return true;
  };
  const tree = testTree([optionsWith({})], {
    gates,
    audit: { record, recordNow: record, flush: () => true } as never,
    ...(options.isPinned && { pins: createSqlitePinStore(openTreeState()) }),
  });
  const sign = (terms: GateTerms, decision: Decision = "approve") =>
    signDecision(statementOf(terms, decision), operator.privateKey, thumbprint(jwk));
  return {
    ...tree,
    server,
    gates,
    rules,
    revoked,
    events,
    sign,
    retool(next) {
      tools.splice(0, tools.length, ...next);
      server.takers.at(-1)?.notification("notifications/tools/list_changed", {});
    },
    configure: (more, profiles) => void tree.tree.change({ servers: [optionsWith(more)], profiles }),
    async stop(args = { n: 1 }, more = {}) {
      const result = await tree.ask("tools/call", { name: "s.wipe", arguments: args }, more);
      expect(result.structuredContent).toMatchObject({ status: "confirmation_required" });
      return result.structuredContent as Terms;
    },
    async approve(terms) {
      const { confirmation_id } = terms;
      const boss = { principal: { id: "boss" } };
      return await tree.ask(roomMethods.confirmGate, { confirmation_id, proof: await sign(terms) }, boss);
    },
    arrived: () => server.asked.filter(({ method }) => method === "tools/call").map(({ params }) => params),
  };
}

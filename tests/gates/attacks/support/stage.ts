// Where thieves try: a tree whose gate stands at the endpoint they come to, or two hops below it. Real servers on real
// sockets; the vault behind the gate is a process that keeps what it did in a file.
import type { Config } from "@mcpx/cli";
import type { TokenClaims } from "@mcpx/host";
import { expect, vi } from "vitest";
import { startTestServer, type TestServer } from "../../../support/test-server.ts";
import { startBelow, stopAll } from "../../../tree/registration/support/family.ts";
import {
  type AskOptions,
  ask,
  callTool,
  type Heard,
  type Message,
  openSession,
  type Session,
} from "../../../tree/support/ask.ts";
import { type Key, newKey } from "./keys.ts";
import { openVault } from "./vault-config.ts";

export type Cell = "here" | "two hops below";

export interface Agent {
  readonly id: string;
  readonly token: string;
  /** By its name at the gate. */
  call(tool: string, args?: object, options?: AskOptions & { path?: string }): Promise<Heard>;
  ask(method: string, params?: object, options?: AskOptions): Promise<Heard>;
  confirm(confirmationId: string, proof: unknown): Promise<Heard>;
  /** A legacy session. */
  session(): Promise<Session>;
}

/** The keys of those who approve at the gate; `mirror` and `narcissus` are agents too. */
type Approver = "alice" | "erin" | "mirror" | "narcissus" | "engine" | "service";

export interface Stage {
  readonly cell: Cell;
  /** Where agents come. */
  readonly endpoint: TestServer;
  /** Where the gate stands. */
  readonly gate: TestServer;
  /** Another tree with the same approvers and a vault of its own. */
  readonly sibling: TestServer;
  readonly keys: Readonly<Record<Approver, Key>>;
  /** What a tool of the gate is called at the endpoint. */
  named(tool: string): string;
  /** What the gate calls an agent of the endpoint. */
  principal(id: string): string;
  agent(claims: Partial<TokenClaims> & { sub: string }, at?: TestServer): Promise<Agent>;
  admin(method: string, path: string, body?: unknown): ReturnType<TestServer["call"]>;
  /** The calls carried out, with this mark in their arguments; every line is as the vault got it. */
  done(mark: string): string[];
  /** The gate's process ends and comes back on the same data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export const serviceIssuer = "https://approve.example";

export async function openStage(cell: Cell, gates: Config["gates"] = {}): Promise<Stage> {
  const vault = openVault();
  const keys: Stage["keys"] = {
    alice: newKey(),
    erin: newKey("p256"),
    mirror: newKey(),
    narcissus: newKey(),
    engine: newKey(),
    service: newKey(),
  };
  const anchors = [
    ...(["alice", "erin", "narcissus"] as const).map((name) => ({ name, jwk: keys[name].jwk })),
    // Under a name that is not the agent's: only the key gives it away.
    { name: "reflection", jwk: keys.mirror.jwk },
    { name: "engine", policy: keys.engine.jwk },
    { issuer: serviceIssuer, jwks: { keys: [keys.service.jwk] } },
  ] as NonNullable<NonNullable<Config["gates"]>["anchors"]>;
  const config = (name: string) => ({
    mcpServers: vault.mcpServers(name),
    ...profiles,
    gates: { hold: 0, anchors, ...gates } as NonNullable<Config["gates"]>,
  });
  const servers = await (cell === "here" ? startHere(config) : startTwoHopsBelow(config));
  const { endpoint, gate, sibling, all } = servers;
  const prefix = cell === "here" ? "" : "mid.leaf.";
  const stage: Stage = {
    cell,
    endpoint,
    gate,
    sibling,
    keys,
    named: (tool) => `${prefix}${tool}`,
    principal: (id) => (cell === "here" ? id : `parent:leaf/parent:mid/${id}`),
    agent: (claims, at = endpoint) => enter(at, claims, at === endpoint ? prefix : ""),
    admin: (method, path, body) => gate.callHere(method, `/admin${path}`, body),
    done: vault.done,
    async restart() {
      await gate.restart();
      await settled(stage);
    },
    async stop() {
      await stopAll(all);
      vault.remove();
    },
  };
  await settled(stage);
  return stage;
}

interface Servers {
  endpoint: TestServer;
  gate: TestServer;
  sibling: TestServer;
  /** The upmost first. */
  all: TestServer[];
}

type ConfigOf = (name: string) => Config;

async function startHere(config: ConfigOf): Promise<Servers> {
  const endpoint = await startTestServer({ config: config("gate") });
  const sibling = await startTestServer({ config: config("sibling") });
  return { endpoint, gate: endpoint, sibling, all: [endpoint, sibling] };
}

/** Everything is in one process here, which may be busy for longer than a second. */
const heartbeat = 15_000;

async function startTwoHopsBelow(config: ConfigOf): Promise<Servers> {
  const endpoint = await startTestServer({ config: profiles });
  const middle = await startBelow(endpoint, "mid", { heartbeat });
  const gate = await startBelow(middle, "leaf", { heartbeat, config: config("gate") });
  const sibling = await startBelow(middle, "twin", { heartbeat, config: config("sibling") });
  return { endpoint, gate, sibling, all: [endpoint, middle, gate, sibling] };
}

const profiles = {
  profiles: {
    narrow: { tools: ["**"], names: "safe" },
    finder: { tools: ["**"], search: true },
  },
} satisfies Config;

/** Agents have the right to everything, and the gate is what stands between. */
async function enter(
  server: TestServer,
  claims: Partial<TokenClaims> & { sub: string },
  prefix: string,
): Promise<Agent> {
  const token = await server.token({ topics: [], tools: ["**"], ...claims });
  const place = { url: `${server.url}/mcp`, token };
  return {
    id: claims.sub,
    token,
    call: (tool, args = {}, { path = "", ...options } = {}) =>
      callTool({ token, url: `${server.url}/mcp${path}` }, `${prefix}${tool}`, args, options),
    ask: (method, params = {}, options = {}) => ask(place, method, params, options),
    confirm: (confirmation_id, proof) => ask(place, "mcpax/confirm", { confirmation_id, proof }),
    session: () => openSession(place),
  };
}

/** Everything is listed where agents come, and can be called. */
async function settled(stage: Stage): Promise<void> {
  const looker = await stage.agent({ sub: "looker" });
  const look = async () =>
    expect((await looker.call("vault.look")).message.result?.content?.[0]?.text).toBe("look is done");
  await vi.waitFor(look, { timeout: 15_000, interval: 20 });
}

/** What was answered instead of a result, or why an approved call was not sent. */
export function reasonOf({ message }: Heard): unknown {
  const refusal = message?.result?.structuredContent?.refusal;
  return message?.error?.data?.reason ?? refusal ?? JSON.stringify(message);
}

/** What a call waits with. */
export function waitingOf({ message }: Heard): Message {
  const content = message?.result?.structuredContent;
  expect(content, JSON.stringify(message)).toMatchObject({ status: "confirmation_required" });
  return content;
}

// A thief with everything an agent has: its token, its key, its network. It goes through all addresses with everything
// that might open a gate, or make it somebody who opens gates.
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { joinRoom } from "@mcpx/client";
import { expect } from "vitest";
import type { TestServer } from "../../support/test-server.ts";
import { rawRegistrant, registrationOf, toolOf } from "../../tree/registration/support/raw-registrant.ts";
import { type Message, revision } from "../../tree/support/ask.ts";
import type { Key } from "../attacks/support/keys.ts";
import { signed } from "../attacks/support/scene.ts";
import { addressesInSources } from "./addresses.ts";

export interface Loot {
  server: TestServer;
  token: string;
  /** What it shows beside the token. */
  shown?: Record<string, string>;
  key: Key;
  /** What a call waits with. */
  terms: Message;
  /** Of the call it wants. */
  args: object;
  room: string;
  /** Whether there is a call that waits at all. */
  isWaiting: boolean;
  /** Where it goes; everywhere if not given. */
  only?: RegExp;
}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"];
const atOnce = 16;
const agent = new Agent({ keepAlive: true, maxSockets: atOnce });

interface Attempt {
  method: string;
  path: string;
  headers: Record<string, string>;
  body?: string;
}

/** All that was tried: method, path and what came of it. */
export async function walk(loot: Loot): Promise<{ method: string; path: string; status: number }[]> {
  const { only = /^/ } = loot;
  const addresses = addressesInSources().filter((path) => only.test(path));
  const attempts = addresses.flatMap((path) => attemptsAt(loot, path));
  const tried: { method: string; path: string; status: number }[] = [];
  const next = attempts.values();
  const work = async () => {
    for (const attempt of next) tried.push({ ...attempt, status: await knock(loot.server.url, attempt) });
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  agent.destroy();
  await register(loot);
  await enterRoom(loot);
  return tried;
}

/** Thousands of times: `fetch` would cost four times as much. */
async function knock(url: string, { method, path, headers, body }: Attempt): Promise<number> {
  const signal = AbortSignal.timeout(10_000);
  const asked = request(new URL(path, url), { method, headers, signal, agent }).end(body);
  const [response] = (await once(asked, "response")) as [IncomingMessage];
  // Streams that would stay open say nothing of a call.
  if (isStream(response)) response.destroy();
  else await once(response.resume(), "end");
  return response.statusCode ?? 0;
}

const isStream = ({ headers }: IncomingMessage) => headers["content-type"]?.startsWith("text/event-stream");

function attemptsAt(loot: Loot, route: string): Attempt[] {
  const path = filledIn(route, loot);
  const own = { authorization: `Bearer ${loot.token}`, ...loot.shown };
  const cookie = { cookie: `mcpx_console=${loot.token}; __Host-mcpx_console=${loot.token}` };
  const json = { "content-type": "application/json", accept: "application/json, text/event-stream" };
  const people = route.startsWith("/console") ? [own, {}, cookie] : [own, {}];
  return people.flatMap((who) =>
    methods.flatMap((method): Attempt[] => {
      if (method === "GET") return [{ method, path, headers: { ...who } }];
      // Other methods take nothing but the address.
      const bodies = method === "POST" ? bodiesOf(loot) : [{ body: {} }];
      return bodies.map(({ body, headers = {} }) => ({
        method,
        path,
        headers: { ...json, ...who, ...headers },
        body: JSON.stringify(body),
      }));
    }),
  );
}

function filledIn(route: string, { terms, room }: Loot): string {
  const values: Record<string, string> = {
    ":ticket": "A".repeat(43),
    ":topic": room,
    ":profile": "narrow",
    ":name": "vault.open",
  };
  return route.replace(/:\w+/g, (name) => values[name] ?? terms.confirmation_id);
}

interface Body {
  body: object;
  headers?: Record<string, string>;
}

/** Everything that one of the addresses might take for something. */
function bodiesOf({ key, terms, args, token }: Loot): Body[] {
  const { confirmation_id } = terms;
  const proof = signed(key, terms);
  const credential = {
    id: "eA",
    response: { clientDataJSON: "eA", authenticatorData: "eA", signature: "eA" },
  };
  return [
    { body: { proof } },
    { body: { proof: token, decision: "approve", confirmation_id, approved: true } },
    { body: { decision: "approve", credential } },
    { body: { name: "thief", jwk: key.jwk, key: key.jwk, publicKey: key.jwk, credential } },
    { body: { principal: "accomplice", tools: "**", uses: 100, reason: "please" } },
    { body: { on: false } },
    { body: { level: "full", admin: true, sub: "thief", tools: ["**"], topics: ["**"], topic: "ops" } },
    rpc("tools/call", { name: "vault.open", arguments: args }),
    rpc("tools/call", { name: "call_tool", arguments: { name: "vault.open", arguments: args } }),
    rpc("mcpax/confirm", { confirmation_id, proof }),
  ];
}

function rpc(method: string, params: Record<string, unknown>): Body {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": revision,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const name = typeof params.name === "string" ? { "mcp-name": params.name } : {};
  return {
    body: { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } },
    headers: { "mcp-protocol-version": revision, "mcp-method": method, ...name },
  };
}

/** In the vault's place, and in one of its own. */
async function register({ server, token }: Loot): Promise<void> {
  for (const segment of ["vault", "thief", "mcpax"]) {
    const registrant = await rawRegistrant(server.url, token, { tools: [toolOf("open")] });
    await registrant.register(registrationOf(segment));
    registrant.cut();
  }
}

/** As a member like any other. */
async function enterRoom({ server, token, terms, args, key, room, isWaiting }: Loot): Promise<void> {
  const { confirmation_id } = terms;
  const joined = await joinRoom({ url: server.url, topic: room, token });
  const tree = joined.peer("tree");
  if (isWaiting) await expect.poll(() => joined.proposals.pending()).not.toEqual([]);
  const shown = joined.proposals.pending();
  await Promise.allSettled([
    tree.request("tools/call", { name: "vault.open", arguments: { ...args } }),
    tree.request("mcpax/confirm", { confirmation_id, proof: signed(key, terms) }),
    tree.request("mcpax/confirm", { confirmation_id, proof: "approved" }),
    ...shown.flatMap((proposal) => [
      joined.proposals.fulfil(proposal),
      joined.proposals.reject(proposal, { code: "policy" }),
      joined.proposals.withdraw([proposal]),
    ]),
  ]);
  await joined.close();
}

// Somebody with nothing but a socket and a key, who sends calls exactly as a test wants them.
import { type AccessKey, createKey } from "@mcpx/client/guard";
import {
  type JsonObject,
  type ProvenCall,
  readCapabilityToken,
  signProof,
  toBase64url,
} from "@mcpx/protocol";
import { onTestFinished } from "vitest";
import { type EnterOptions, enter } from "../../support/enter.ts";
import type { Seen, TestClient } from "../../support/test-client.ts";
import type { TestServer } from "../../support/test-server.ts";
import { topic } from "./guarded-kitchen.ts";

export interface RawCall {
  tool?: string;
  arguments?: JsonObject;
  capability?: unknown;
  /** Where nothing is given the call is proven as it should be; `null` leaves the proof out. */
  proof?: unknown;
  /** What the proof says, where that is another call. */
  proven?: Partial<ProvenCall>;
  atMs?: number;
  signer?: AccessKey;
  /** Further parameters. */
  params?: JsonObject;
}

export class RawCaller {
  readonly client: TestClient;
  readonly key: AccessKey;
  #lastId = 0;

  constructor(client: TestClient, key: AccessKey) {
    this.client = client;
    this.key = key;
  }

  /** Its result, or the whole JSON-RPC error. */
  async request(method: string, params: JsonObject, id: string | number = this.nextId()): Promise<Seen> {
    const correlation = this.send(method, params, id);
    const { payload } = await this.client.find(
      (message) =>
        message.kind === "mcp" && message.correlation_id === correlation && !message.payload.method,
    );
    return payload;
  }

  send(method: string, params: JsonObject, id: string | number, to = "oven"): string {
    return this.client.send({ kind: "mcp", to: [to], payload: { jsonrpc: "2.0", id, method, params } });
  }

  /** `done`, or the reason why not. */
  async call(call: RawCall): Promise<string> {
    const id = this.nextId();
    return outcomeOf(await this.request("tools/call", await this.params(call, id), id));
  }

  async params(call: RawCall, id: number): Promise<JsonObject> {
    const { tool = "heat", capability, params } = call;
    const args = call.arguments ?? { degrees: 180 };
    const proof =
      call.proof === undefined && capability !== undefined ? await this.prove(call, id) : call.proof;
    return {
      name: tool,
      arguments: args,
      ...(capability === undefined ? {} : { capability }),
      ...(proof === undefined || proof === null ? {} : { proof }),
      ...params,
    };
  }

  async prove(call: RawCall, request: string | number): Promise<JsonObject> {
    const { tool = "heat", capability, proven, atMs = Date.now(), signer = this.key } = call;
    const whole: ProvenCall = {
      capability: idIn(capability),
      tool,
      arguments: call.arguments ?? { degrees: 180 },
      topic,
      target: "oven",
      request,
      ...proven,
    };
    const nonce = toBase64url(crypto.getRandomValues(new Uint8Array(16)));
    return signProof(signer, whole, { timestamp: new Date(atMs).toISOString(), nonce });
  }

  nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }
}

export async function enterRaw(
  server: TestServer,
  id: string,
  { key, ...options }: EnterOptions & { key?: AccessKey } = {},
): Promise<RawCaller> {
  const client = await enter(server, id, { topic, query: { seq: "1" }, ...options });
  onTestFinished(() => client.ws.terminate());
  const caller = new RawCaller(client, key ?? (await createKey()));
  await client.ack(client.send({ kind: "system", payload: { type: "key", jwk: caller.key.jwk } }));
  if (options.level !== undefined && options.level !== "full") return caller;
  await caller.request("initialize", {
    protocolVersion: "2025-06-18",
    capabilities: {},
    clientInfo: { name: id, version: "1" },
  });
  return caller;
}

export function outcomeOf({ error }: Seen): string {
  return error === undefined ? "done" : error.data.reason;
}

function idIn(capability: unknown): string {
  try {
    return readCapabilityToken(capability).claims.jti;
  } catch {
    return "unreadable";
  }
}

// The official clients of both kinds, unmodified: they get an address and a place to be called back at, nothing else.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import {
  Client as ClientV2,
  StreamableHTTPClientTransport as TransportV2,
} from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

/** What a client keeps of its own sign-in, as the SDKs ask for it. */
export interface Memory {
  tokens?: { access_token: string; refresh_token?: string };
  client?: { client_id: string };
  verifier?: string;
  asked?: URL;
  found?: unknown;
}

export interface Callback {
  url: string;
  /** Where the browser was sent with a code. */
  next(): Promise<URLSearchParams>;
  close(): Promise<void>;
}

export async function openCallback(): Promise<Callback> {
  let waiting = Promise.withResolvers<URLSearchParams>();
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? "/", "http://localhost");
    if (url.pathname === "/callback") waiting.resolve(url.searchParams);
    response
      .writeHead(200, { "content-type": "text/html" })
      .end("<!doctype html><p>Back at the program.</p>");
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/callback`,
    async next() {
      const params = await waiting.promise;
      waiting = Promise.withResolvers();
      return params;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

export function providerFor(redirectUrl: string, memory: Memory, name: string, clientMetadataUrl?: string) {
  return {
    ...(clientMetadataUrl !== undefined && { clientMetadataUrl }),
    redirectUrl,
    clientMetadata: { client_name: name, redirect_uris: [redirectUrl], token_endpoint_auth_method: "none" },
    state: () => "s",
    clientInformation: () => memory.client,
    saveClientInformation: (client: { client_id: string }) => void Object.assign(memory, { client }),
    tokens: () => memory.tokens as { access_token: string; token_type: string } | undefined,
    saveTokens: (tokens: { access_token: string }) => void Object.assign(memory, { tokens }),
    redirectToAuthorization: (asked: URL) => void Object.assign(memory, { asked }),
    saveCodeVerifier: (verifier: string) => void Object.assign(memory, { verifier }),
    codeVerifier: () => memory.verifier ?? "",
    saveDiscoveryState: (found: unknown) => void Object.assign(memory, { found }),
    discoveryState: () => memory.found as never,
    invalidateCredentials: () => void delete memory.tokens,
  };
}

export interface SdkClient {
  /** Rejects where it has to sign in first; `memory.asked` then says where. */
  connect(): Promise<void>;
  finish(params: URLSearchParams): Promise<void>;
  tools(): Promise<string[]>;
  close(): Promise<void>;
}

type Provider = ReturnType<typeof providerFor>;

export function sdkClient(kind: "v1" | "v2", url: string, provider: Provider): SdkClient {
  const open = () => {
    if (kind === "v1") {
      const transport = new TransportV1(new URL(url), { authProvider: provider });
      return { transport, client: new ClientV1({ name: "sdk", version: "1" }) };
    }
    const transport = new TransportV2(new URL(url), { authProvider: provider });
    return { transport, client: new ClientV2({ name: "sdk", version: "2" }) };
  };
  let now = open();
  return {
    async connect() {
      now = open();
      await (now.client as ClientV1).connect(now.transport as TransportV1);
    },
    finish: (params) =>
      kind === "v1"
        ? (now.transport as TransportV1).finishAuth(params.get("code") ?? "")
        : (now.transport as TransportV2).finishAuth(params),
    async tools() {
      const { tools } = await (now.client as ClientV1).listTools();
      return tools.map(({ name }) => name);
    },
    close: () => now.client.close(),
  };
}

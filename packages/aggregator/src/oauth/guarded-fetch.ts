// Fetching what a server's metadata points at: https, or http on this machine; nowhere nearer than the server itself
// stands; no redirects; bounded in bytes and time. The name is looked up once, so that what was checked is what is
// connected to.
import { lookup as lookupName } from "node:dns/promises";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import { isMcpxError, McpxError } from "@mcpx/protocol";
import { isNearer, nearestReach, type Reach } from "./reach.ts";

/** All IP addresses of a host name. */
export type Lookup = (name: string) => Promise<readonly string[]>;

export type GuardedFetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

export interface GuardedFetchOptions {
  /** The MCP server whose metadata is followed. */
  server: URL;
  lookup?: Lookup | undefined;
  timeoutMs?: number | undefined;
  bytesMax?: number | undefined;
}

export function createGuardedFetch(options: GuardedFetchOptions): GuardedFetch {
  const { server, lookup = lookupAll, timeoutMs = 10_000, bytesMax = 65_536 } = options;

  return async (input, init = {}) => {
    const url = new URL(input);
    const signal = AbortSignal.timeout(timeoutMs);
    try {
      const addresses = await addressesOf(url, lookup);
      const stands = nearestReach(await addressesOf(server, lookup));
      mayGo(url, nearestReach(addresses), stands);
      return await send(url, { init, addresses, signal, bytesMax });
    } catch (error) {
      if (isMcpxError(error)) throw error;
      const why = signal.aborted ? "did not answer in time" : "cannot be reached";
      throw new McpxError("server_unauthorised", `${url.host} ${why}`);
    }
  };
}

/** Whether an address may be opened at all, by us or in somebody's browser. */
export function isSecureAddress(address: string): boolean {
  const url = URL.parse(address);
  if (url?.protocol === "https:") return true;
  return url?.protocol === "http:" && isLoopbackName(url.hostname);
}

function isLoopbackName(hostname: string): boolean {
  return (
    hostname === "localhost" || (isIP(bare(hostname)) !== 0 && nearestReach([bare(hostname)]) === "loopback")
  );
}

function mayGo(url: URL, reach: Reach, stands: Reach): void {
  const plain = url.protocol === "http:" && reach === "loopback" && isLoopbackName(url.hostname);
  if (url.protocol !== "https:" && !plain) {
    throw new McpxError("server_unauthorised", `${url.host} must be reached over https`);
  }
  if (isNearer(reach, stands)) {
    throw new McpxError(
      "server_unauthorised",
      `${url.host} is in a more private network than the server that points at it`,
    );
  }
}

interface Sending {
  init: RequestInit;
  addresses: readonly string[];
  signal: AbortSignal;
  bytesMax: number;
}

async function send(url: URL, { init, addresses, signal, bytesMax }: Sending): Promise<Response> {
  const body = init.body instanceof URLSearchParams ? init.body.toString() : init.body;
  if (body !== undefined && body !== null && typeof body !== "string") throw new TypeError("not a text");
  const request = (url.protocol === "https:" ? requestHttps : requestHttp)(url, {
    method: init.method ?? "GET",
    headers: Object.fromEntries(new Headers(init.headers)),
    lookup: always(addresses),
    agent: false,
    signal,
  });
  try {
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      request.once("response", resolve).once("error", reject);
      request.end(body ?? undefined);
    });
    return await toResponse(answer, url, bytesMax);
  } finally {
    request.destroy();
  }
}

async function toResponse(answer: IncomingMessage, url: URL, bytesMax: number): Promise<Response> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of answer as AsyncIterable<Buffer>) {
    bytes += chunk.byteLength;
    if (bytes > bytesMax)
      throw new McpxError(
        "server_unauthorised",
        `the answer of ${url.host} is larger than ${bytesMax} bytes`,
      );
    chunks.push(chunk);
  }
  const { statusCode: status = 502, headers } = answer;
  const kept = ["content-type", "location", "www-authenticate"].flatMap((name): [string, string][] => {
    const value = headers[name];
    return typeof value === "string" ? [[name, value]] : [];
  });
  const isEmpty = status === 204 || status === 205 || status === 304;
  return new Response(isEmpty ? null : Buffer.concat(chunks), { status, headers: kept });
}

function always(addresses: readonly string[]): LookupFunction {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_name, { all: wantsAll }, callback) => {
    const [first] = all;
    if (wantsAll || !first) callback(null, all);
    else callback(null, first.address, first.family);
  };
}

async function addressesOf(url: URL, lookup: Lookup): Promise<readonly string[]> {
  const host = bare(url.hostname);
  const addresses = isIP(host) ? [host] : await lookup(host);
  if (addresses.length === 0) throw new Error("no address");
  return addresses;
}

const lookupAll: Lookup = async (name) =>
  (await lookupName(name, { all: true })).map(({ address }) => address);

function bare(hostname: string): string {
  return hostname.replace(/^\[|\]$/g, "");
}

// Requests to one address, over connections that are kept: `node:http` itself, since `fetch` costs several times as
// much a call. Knows of credentials, refusals and what was or was not sent; what a body means is for others.
import { Agent, type ClientRequest, type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps, Agent as TlsAgent } from "node:https";
import { McpxError } from "@mcpx/protocol";
import type { Credentials } from "../credentials/credentials.ts";
import { faultIn, HttpRefusal } from "./http-refusal.ts";

export interface HttpAddress {
  url: string;
  /** Of the configuration. Those the protocol sets are left out. */
  headers?: Readonly<Record<string, string>> | undefined;
  credentials?: Credentials | undefined;
}

export interface HttpWish {
  method: "POST" | "GET" | "DELETE";
  /** Names and values by turns. */
  headers: readonly string[];
  body?: string | undefined;
  signal?: AbortSignal | undefined;
  isRepeatable?: boolean | undefined;
  /** 2xx. The body has to be read to its end, or destroyed. */
  taken(response: IncomingMessage): void;
  /** Nothing else comes after it. */
  failed(error: unknown): void;
}

const refusalBytesMax = 65_536;
/** Less than what servers wait before they close: so few requests meet a closing connection. */
const idleMs = 4_000;
const ours =
  /^(host|connection|content-length|content-type|transfer-encoding|accept|accept-encoding|mcp-.*|last-event-id|upgrade|te|trailer)$/i;
const neverSent = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "EPROTO",
]);

export class HttpCaller {
  readonly #options: Record<string, unknown>;
  readonly #request: typeof requestHttp;
  readonly #agent: Agent;
  readonly #headers: readonly string[];
  readonly #credentials: Credentials | undefined;
  #generation = 0;

  constructor({ url, headers, credentials }: HttpAddress) {
    const parsed = URL.parse(url);
    const isTls = parsed?.protocol === "https:";
    if (parsed === null || (!isTls && parsed.protocol !== "http:")) {
      throw new McpxError("server_unreachable", "its address is not an http or https URL");
    }
    const options = { keepAlive: true, timeout: idleMs, maxFreeSockets: 64 };
    this.#agent = isTls ? new TlsAgent(options) : new Agent(options);
    this.#request = isTls ? (requestHttps as typeof requestHttp) : requestHttp;
    this.#options = {
      protocol: parsed.protocol,
      hostname: parsed.hostname.replace(/^\[|\]$/g, ""),
      port: parsed.port,
      path: parsed.pathname + parsed.search,
      agent: this.#agent,
    };
    const given = Object.entries(headers ?? {}).filter(([name]) => !ours.test(name));
    this.#headers = ["host", parsed.host, "user-agent", "mcpx", ...given.flat()];
    this.#credentials = credentials;
  }

  call(wish: HttpWish): void {
    if (wish.signal?.aborted) wish.failed(wish.signal.reason);
    else if (this.#credentials === undefined) this.#start(wish, undefined, true);
    else void this.#startWith(this.#credentials, wish, true);
  }

  /** Ends what is under way; what is called for afterwards still goes out. */
  stop(): void {
    this.#generation += 1;
    this.#agent.destroy();
  }

  async #startWith(credentials: Credentials, wish: HttpWish, mayRetry: boolean): Promise<void> {
    const generation = this.#generation;
    let headers: Record<string, string>;
    try {
      headers = await credentials.headers();
    } catch (error) {
      wish.failed(error);
      return;
    }
    if (wish.signal?.aborted) wish.failed(wish.signal.reason);
    else if (generation !== this.#generation) wish.failed(new McpxError("server_unreachable", "closed"));
    else this.#start(wish, headers, mayRetry);
  }

  #start(wish: HttpWish, secrets: Record<string, string> | undefined, mayRetry: boolean): void {
    const { method, body, signal } = wish;
    const headers = [...this.#headers, ...wish.headers];
    if (secrets !== undefined) for (const [name, value] of Object.entries(secrets)) headers.push(name, value);
    if (body !== undefined) headers.push("content-length", String(Buffer.byteLength(body)));
    let request: ClientRequest;
    try {
      request = this.#request({ ...this.#options, method, headers });
    } catch {
      // A header Node does not let through; its text may be a secret.
      wish.failed(new McpxError("server_unreachable", "a header for it is not valid"));
      return;
    }
    const generation = this.#generation;
    const stop = () => request.destroy();
    signal?.addEventListener("abort", stop, { once: true });
    const forget = () => signal?.removeEventListener("abort", stop);
    let isAnswered = false;
    request.on("response", (response) => {
      isAnswered = true;
      response.once("close", forget);
      const { statusCode = 0 } = response;
      if (statusCode >= 200 && statusCode < 300) wish.taken(response);
      else void this.#refused(wish, response, secrets, mayRetry);
    });
    request.on("error", (error: NodeJS.ErrnoException) => {
      forget();
      // Whoever has the response is told by the response.
      if (isAnswered) return;
      const isStale = request.reusedSocket && !signal?.aborted && generation === this.#generation;
      if (isStale && wish.isRepeatable && mayRetry) this.#start(wish, secrets, false);
      else wish.failed(signal?.aborted ? signal.reason : faultOf(error));
    });
    request.end(body);
  }

  async #refused(
    wish: HttpWish,
    response: IncomingMessage,
    secrets: Record<string, string> | undefined,
    mayRetry: boolean,
  ): Promise<void> {
    const status = response.statusCode ?? 0;
    const wanted = response.headers["www-authenticate"];
    const body = await readSome(response);
    try {
      const credentials = this.#credentials;
      if (credentials !== undefined && mayRetry && (status === 401 || status === 403)) {
        const isRenewed = await credentials.refused(status, wanted, secrets);
        if (isRenewed && !wish.signal?.aborted) {
          await this.#startWith(credentials, wish, false);
          return;
        }
      }
      wish.failed(wish.signal?.aborted ? wish.signal.reason : new HttpRefusal(status, faultIn(body)));
    } catch (error) {
      wish.failed(error);
    }
  }
}

/** What a refusal says; whatever is too long of it is left. */
async function readSome(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of response as AsyncIterable<Buffer>) {
      bytes += chunk.length;
      if (bytes > refusalBytesMax) break;
      chunks.push(chunk);
    }
  } catch {
    // The status says enough.
  }
  return Buffer.concat(chunks).toString("utf8");
}

/** Never with the address, which may hold secrets. */
function faultOf(error: NodeJS.ErrnoException): McpxError {
  const code = error.code ?? "";
  const isUnsent =
    error.syscall === "connect" ||
    neverSent.has(code) ||
    /CERT|SELF_SIGNED|^UNABLE_TO|^ERR_TLS|^ERR_SSL/.test(code);
  if (isUnsent) return new McpxError("server_unreachable", `it cannot be reached (${code})`);
  return new McpxError("server_lost", `the connection broke before it answered (${code || "closed"})`);
}

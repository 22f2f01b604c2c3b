// Requests to one address, over connections that are kept: undici's pool by its own interface, since `node:http` costs
// twice as much a call, and `fetch` more. Knows of credentials, refusals and what was or was not sent; what a body means
// is for others.

import type { Readable } from "node:stream";
import { McpxError } from "@mcpx/protocol";
import { buildConnector, Pool } from "undici";
import type { Credentials } from "../oauth/credentials.ts";
import { type HttpAnswer, HttpAttempt } from "./http-attempt.ts";
import { faultIn, HttpRefusal } from "./http-refusal.ts";

export interface HttpAddress {
  url: string;
  /** Of the configuration. Those the protocol sets are left out. */
  headers?: Readonly<Record<string, string>> | undefined;
  credentials?: Credentials | undefined;
  /** Is given each connection before anything is read of it. */
  pace?: ((socket: Readable) => void) | undefined;
}

export interface HttpWish {
  method: "POST" | "GET" | "DELETE";
  /** Names and values by turns. */
  headers: readonly string[];
  body?: string | undefined;
  signal?: AbortSignal | undefined;
  isRepeatable?: boolean | undefined;
  /** 2xx. To be read at once, or destroyed. */
  taken(answer: HttpAnswer): void;
  /** Nothing else comes after it. */
  failed(error: unknown): void;
}

const refusalBytesMax = 65_536;
/** Less than what servers wait before they close: so few requests meet a closing connection. */
const idleMs = 4_000;
/** Nobody waits that long for a machine that says nothing at all. */
const connectMs = 30_000;
const ours =
  /^(host|connection|keep-alive|content-length|content-type|transfer-encoding|accept|accept-encoding|mcp-.*|last-event-id|upgrade|te|trailer|expect)$/i;

export class HttpCaller {
  readonly #origin: string;
  readonly #path: string;
  readonly #headers: readonly string[];
  readonly #credentials: Credentials | undefined;
  readonly #connect: buildConnector.connector;
  #pool: Pool;

  constructor({ url, headers, credentials, pace }: HttpAddress) {
    const parsed = URL.parse(url);
    if (parsed === null || (parsed.protocol !== "https:" && parsed.protocol !== "http:")) {
      throw new McpxError("server_unreachable", "its address is not an http or https URL");
    }
    this.#origin = parsed.origin;
    this.#path = parsed.pathname + parsed.search;
    const given = Object.entries(headers ?? {}).filter(([name]) => !ours.test(name));
    this.#headers = ["user-agent", "mcpx", ...given.flat()];
    this.#credentials = credentials;
    this.#connect = createConnector(pace);
    this.#pool = createPool(this.#origin, this.#connect);
  }

  call(wish: HttpWish): void {
    if (wish.signal?.aborted) wish.failed(wish.signal.reason);
    else if (this.#credentials === undefined) this.#start(wish, undefined, true);
    else void this.#startWith(this.#credentials, wish, true);
  }

  /** Ends what is under way; what is called for afterwards still goes out. */
  stop(): void {
    const pool = this.#pool;
    this.#pool = createPool(this.#origin, this.#connect);
    void pool.destroy();
  }

  async #startWith(credentials: Credentials, wish: HttpWish, mayRetry: boolean): Promise<void> {
    const pool = this.#pool;
    let headers: Record<string, string>;
    try {
      headers = await credentials.headers();
    } catch (error) {
      wish.failed(error);
      return;
    }
    if (wish.signal?.aborted) wish.failed(wish.signal.reason);
    else if (pool !== this.#pool) wish.failed(new McpxError("server_unreachable", "closed"));
    else this.#start(wish, headers, mayRetry);
  }

  #start(wish: HttpWish, secrets: Record<string, string> | undefined, mayRetry: boolean): void {
    const pool = this.#pool;
    const { method, body = null, signal } = wish;
    const headers = [...this.#headers, ...wish.headers];
    if (secrets !== undefined) for (const [name, value] of Object.entries(secrets)) headers.push(name, value);
    const attempt = new HttpAttempt(
      {
        answered: (answer, status) => {
          if (status < 300) wish.taken(answer);
          else void this.#refused(wish, answer, status, secrets, mayRetry);
        },
        failed: (error, isSent) => {
          // A kept connection may have been closing already.
          const isWorthwhile = isSent && !signal?.aborted && pool === this.#pool;
          if (isWorthwhile && wish.isRepeatable && mayRetry) this.#start(wish, secrets, false);
          else wish.failed(signal?.aborted ? signal.reason : faultOf(error as NodeJS.ErrnoException, isSent));
        },
      },
      signal,
    );
    pool.dispatch({ path: this.#path, method, headers, body }, attempt);
  }

  async #refused(
    wish: HttpWish,
    answer: HttpAnswer,
    status: number,
    secrets: Record<string, string> | undefined,
    mayRetry: boolean,
  ): Promise<void> {
    const wanted = answer.headers["www-authenticate"];
    const body = await readSome(answer);
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

function createConnector(pace: HttpAddress["pace"]): buildConnector.connector {
  const connect = buildConnector({ timeout: connectMs, allowH2: false });
  if (pace === undefined) return connect;
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error !== null) {
        callback(error, null);
        return;
      }
      pace(socket);
      callback(null, socket);
    });
}

function createPool(origin: string, connect: buildConnector.connector): Pool {
  return new Pool(origin, {
    connect,
    // The caller decides how long an answer may take.
    headersTimeout: 0,
    bodyTimeout: 0,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: idleMs,
  });
}

/** What a refusal says; whatever is too long of it is left. */
function readSome(answer: HttpAnswer): Promise<string> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    answer.read({
      data(chunk) {
        bytes += chunk.length;
        if (bytes > refusalBytesMax) answer.destroy();
        else chunks.push(chunk);
      },
      // However it ended: the status says enough.
      over: () => resolve(Buffer.concat(chunks).toString("utf8")),
    });
  });
}

/** Never with the address, which may hold secrets. */
function faultOf(error: NodeJS.ErrnoException, isSent: boolean): McpxError {
  const code = error.code ?? "";
  // A header HTTP does not allow; its text may be a secret.
  if (code === "UND_ERR_INVALID_ARG")
    return new McpxError("server_unreachable", "a header for it is not valid");
  if (!isSent) return new McpxError("server_unreachable", `it cannot be reached (${code})`);
  const shown = code === "UND_ERR_SOCKET" ? "ECONNRESET" : code || "closed";
  return new McpxError("server_lost", `the connection broke before it answered (${shown})`);
}

// A request as handlers see it.
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { McpxError } from "@mcpx/protocol";
import type { Payer } from "../principal.ts";
import { plainAddress } from "./addresses.ts";
import { certificateNamesOf } from "./certificate-names.ts";
import type { Connections } from "./connections.ts";
import { type BodyBounds, hasJson, readJson, readText } from "./read-body.ts";
import { countOf, isFromLoopback, isReachedByTls, type StrangerRules } from "./strangers.ts";

export interface HttpRequest {
  method: string;
  /** As it came, percent-encoded, without the query. */
  path: string;
  /** Parts of the path named by the route, decoded. */
  params: Readonly<Record<string, string>>;
  query: URLSearchParams;
  headers: IncomingHttpHeaders;
  remoteAddress: string;
  /**
   * The peer is this machine, asks for it by a loopback name, and nothing forwarded the request. Never where
   * `listen.hosts` or `listen.origins` are configured: a proxy may be in front, and what comes through is anybody's.
   */
  isLoopback: boolean;
  /** DNS names of the client certificate, where one was asked for and is proven; see `tls.clientCa`. */
  certificateNames(): readonly string[];
  /** `http(s)://` and the Host header, which was found to be ours; `https` also behind a proxy that is configured. */
  readonly origin: string;
  /** Whether the body calls itself JSON. */
  hasJson(): boolean;
  /** The body as JSON, within the route's limit, or `limits.bodyBytesMax`. */
  json(): Promise<unknown>;
  /** The body as text, within the same limit. */
  text(): Promise<string>;
  /** Calls back when the client leaves before it has the whole answer. */
  onGone(callback: () => void): void;
  /** For what takes long: others have theirs before the rest of it is done. */
  turn(): Promise<void>;
  /** Between pieces of work that go on by themselves: each begins when those of others have had a turn. */
  nextTurn(): Promise<void>;
  /** Whose it is was found out: its work is charged to them from now on. */
  belongsTo(who: Payer): void;
  /** Calls back when the client has the whole answer, or has left. */
  onDone(callback: () => void): void;
}

export interface UpgradeRequest extends HttpRequest {
  /** What a WebSocket library wants to see. */
  raw: IncomingMessage;
}

// Addresses end up in histories and logs: no long-lived token in a URL, ever. [X0-5.1-1]
const tokenParameters = new Set(["token", "access_token", "id_token", "jwt", "bearer", "authorization"]);

/** Shared by all requests without a query: it is never written to. */
const noQuery = new URLSearchParams();

/** What the answer to a request knows of it. */
export interface RequestContext {
  params: Readonly<Record<string, string>>;
  body: BodyBounds;
  rules: StrangerRules;
  /** Absent for upgrades: they have no answer. */
  response?: ServerResponse | undefined;
  connections: Connections;
}

/** The path as it came, or throws `bad_request` for what is no address. */
export function pathOf({ url = "" }: IncomingMessage): string {
  // The absolute form is for proxies; we are none.
  if (!url.startsWith("/")) throw new McpxError("bad_request", "the address must start with /");
  const mark = url.indexOf("?");
  return mark === -1 ? url : url.slice(0, mark);
}

/** Reads the request line. Throws `bad_request` for what is no address, or has a token in it. */
export function createRequest(raw: IncomingMessage, context: RequestContext): UpgradeRequest {
  return new IncomingRequest(raw, context);
}

/** A class: an object literal with getters has a hidden class of its own, which costs each request 13 KB of garbage. */
class IncomingRequest implements UpgradeRequest {
  readonly raw: IncomingMessage;
  readonly method: string;
  readonly path: string;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly #context: RequestContext;

  constructor(raw: IncomingMessage, context: RequestContext) {
    this.raw = raw;
    this.method = raw.method ?? "GET";
    this.path = pathOf(raw);
    this.params = context.params;
    this.query = queryOf(raw.url ?? "");
    this.headers = raw.headers;
    this.#context = context;
    checkAuthorization(raw);
  }

  get remoteAddress(): string {
    return plainAddress(this.raw.socket.remoteAddress ?? "");
  }

  get isLoopback(): boolean {
    return isFromLoopback(this.raw, this.#context.rules);
  }

  get origin(): string {
    return `${isReachedByTls(this.raw, this.#context.rules) ? "https" : "http"}://${this.headers.host}`;
  }

  certificateNames(): readonly string[] {
    return certificateNamesOf(this.raw.socket, Date.now());
  }

  hasJson(): boolean {
    return hasJson(this.raw);
  }

  json(): Promise<unknown> {
    return this.#read(readJson);
  }

  text(): Promise<string> {
    return this.#read(readText);
  }

  async turn(): Promise<void> {
    await this.#context.connections.turn(this.raw);
  }

  nextTurn(): Promise<void> {
    return this.#context.connections.nextTurn(this.raw);
  }

  /** What is made of a body may be much: it has to wait for its turn. */
  async #read<Body>(how: (raw: IncomingMessage, bounds: BodyBounds) => Promise<Body>): Promise<Body> {
    const { connections, body: bounds } = this.#context;
    const body = await how(this.raw, {
      ...bounds,
      hold: (bytes) => connections.hold(this.raw, bytes),
      run: (work) => connections.run(this.raw, work),
    });
    await this.turn();
    return body;
  }

  belongsTo(who: Payer): void {
    this.#context.connections.prove(this.raw, who);
  }

  onDone(callback: () => void): void {
    const { response } = this.#context;
    // The client may have left before this was called.
    if (response?.closed === true) queueMicrotask(callback);
    else response?.once("close", callback);
  }

  onGone(callback: () => void): void {
    this.onDone(() => {
      if (this.#context.response?.writableFinished === false) callback();
    });
  }
}

function queryOf(target: string): URLSearchParams {
  const mark = target.indexOf("?");
  if (mark === -1) return noQuery;
  const query = new URLSearchParams(target.slice(mark + 1));
  for (const name of query.keys()) {
    if (tokenParameters.has(name.toLowerCase())) {
      throw new McpxError("bad_request", `a token in the address (${name.toLowerCase()}=) ends up in logs`, {
        suggestion: "Send `Authorization: Bearer TOKEN`, or trade it for a ticket at POST /v0/tickets",
      });
    }
  }
  return query;
}

/** Node keeps the first of several; which one counts must not be a matter of taste. */
function checkAuthorization(raw: IncomingMessage): void {
  if (countOf(raw, "authorization") > 1) {
    throw new McpxError("bad_request", "Authorization is given more than once");
  }
}

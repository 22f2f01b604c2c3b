// Puts an MCP server into the room: one instance shared by everybody, or one per peer from a factory. Requests not
// addressed to us never come here. [X0-7-1] [X0-7-2]
import { isObject, type JsonObject } from "@mcpx/protocol";
import { answer, type Origin, originOf, refuse } from "../calls/incoming.ts";
import { type LocalCall, notify, type RoomCore, type Serving } from "../core/room-core.ts";
import type { RoomEnvelope } from "../core/room-envelope.ts";
import { asError, RoomError } from "../core/room-error.ts";
import type { OpenGuard } from "./serve-guard.ts";
import { type ServableServer, ServedLink } from "./served-link.ts";
import { checkServeOptions, isServed, type ServeOptions, shownIntroduction } from "./served-methods.ts";

export type ServerFactory = (peer: string) => ServableServer | Promise<ServableServer>;

export interface Served extends AsyncDisposable {
  /** Serves no longer; the server is closed. */
  close(): Promise<void>;
}

/** Peers introduced at one time; the one longest here is forgotten first and may introduce itself again. */
const sessionsMax = 256;

interface Session {
  link: ServedLink;
  introduction: JsonObject;
}

export async function serve(
  core: RoomCore,
  server: ServableServer | ServerFactory,
  options: ServeOptions = {},
): Promise<Served> {
  checkServeOptions(options, core.topic);
  if (core.served !== undefined) throw new RoomError("bad_option", "a server is served here already");
  const serving = new RoomServer(core, server, options);
  core.served = serving;
  core.callSelf = (method, params, call) => serving.callSelf(method, params, call);
  try {
    await serving.open();
  } catch (error) {
    await serving.close();
    throw error;
  }
  return serving;
}

class RoomServer implements Serving, Served {
  readonly #core: RoomCore;
  readonly #server: ServableServer | ServerFactory;
  readonly #options: ServeOptions;
  /** What stands before the server; `undefined`: nothing does. */
  readonly #guard: OpenGuard | undefined;
  readonly #sessions = new Map<string, Promise<Session>>();
  /** Every server that is connected, the oldest first; those of peers that began anew finish what they have. */
  readonly #links = new Set<ServedLink>();
  #own: Promise<Session> | undefined;

  constructor(core: RoomCore, server: ServableServer | ServerFactory, options: ServeOptions) {
    this.#core = core;
    this.#server = server;
    this.#options = options;
    this.#guard = options.guard?.open(core);
  }

  /** [X0-6-2] */
  async open(): Promise<void> {
    if (typeof this.#server !== "function") await this.#ownSession();
    await this.#guard?.begin();
    notify(this.#core, [], "notifications/tools/list_changed", undefined).catch(() => {});
  }

  async close(): Promise<void> {
    if (this.#core.served === this) {
      this.#core.served = undefined;
      this.#core.callSelf = undefined;
    }
    this.#guard?.close();
    this.#sessions.clear();
    this.#own = undefined;
    for (const link of [...this.#links]) await link.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  serves(method: string): boolean {
    return isServed(method, this.#options) || this.#guard?.answers(method) === true;
  }

  request(envelope: RoomEnvelope): boolean {
    const origin = originOf(this.#core, envelope);
    if (origin === undefined) return true;
    const params = isObject(envelope.payload.params) ? envelope.payload.params : undefined;
    void this.#handle(origin, params).catch((error: unknown) => {
      if (this.#guard?.hasRefused(origin, error)) return;
      this.#core.events.emit("error", asError(error));
      refuse(this.#core, origin, "internal", "The server failed");
    });
    return true;
  }

  notification({ from, payload }: RoomEnvelope): void {
    const { method, params } = payload;
    if (method !== "notifications/cancelled" || !isObject(params)) return;
    this.#guard?.cancel(from, params.requestId);
    void this.#sessions.get(from)?.then(
      ({ link }) => link.cancel(from, params),
      () => {},
    );
  }

  /** What it asked is answered still: it may come back and resume. */
  ended(peer: string | undefined): void {
    if (peer === undefined) void this.close();
    else this.#forget(peer);
  }

  async callSelf(method: string, params: JsonObject, call: LocalCall): Promise<JsonObject> {
    return (await this.#ownSession()).link.call(method, params, call);
  }

  async #handle(origin: Origin, params: JsonObject | undefined): Promise<void> {
    const { peer, method, rpcId } = origin;
    if (this.#core.level === "restricted") {
      // It may not answer, so it does not act either.
      throw new RoomError(
        "privilege_violation",
        `${peer} was not answered: this participant is restricted and may not answer`,
      );
    }
    const retryAfterMs = peer === this.#core.id ? undefined : this.#options.retryAfterMs?.(peer);
    if (retryAfterMs !== undefined) {
      const more = { retry_after_ms: retryAfterMs };
      return refuse(this.#core, origin, "rate_limited", "Too many requests a second", more);
    }
    if (!this.serves(method)) {
      return refuse(this.#core, origin, "not_served", `Method not found: ${method.slice(0, 64)}`);
    }
    if (method === "ping") return answer(this.#core, origin, { jsonrpc: "2.0", id: rpcId, result: {} });
    if (method === "initialize") return this.#initialize(origin, params);
    if (this.#guard?.answers(method)) return this.#guard.answer(origin, params ?? {});
    const session = peer === this.#core.id ? this.#ownSession() : this.#sessions.get(peer);
    if (session === undefined) {
      return refuse(this.#core, origin, "not_initialized", "Send initialize first");
    }
    const { link } = await session;
    if (this.#guard === undefined || method !== "tools/call") return link.take(origin, params);
    link.take(origin, await this.#guard.admit(origin, params ?? {}));
  }

  async #initialize(origin: Origin, params: JsonObject | undefined): Promise<void> {
    const { peer, rpcId, envelopeId } = origin;
    this.#forget(peer);
    const isShared = typeof this.#server !== "function";
    const session = isShared ? this.#ownSession() : this.#openSession(peer, params, envelopeId);
    this.#sessions.set(peer, session);
    const [oldest] = this.#sessions.keys();
    if (this.#sessions.size > sessionsMax && oldest !== undefined) this.#forget(oldest);
    try {
      const { introduction } = await session;
      const result = shownIntroduction(introduction, this.#options, params?.protocolVersion);
      await answer(this.#core, origin, { jsonrpc: "2.0", id: rpcId, result });
    } catch (error) {
      this.#sessions.delete(peer);
      throw error;
    }
  }

  #forget(peer: string): void {
    const session = this.#sessions.get(peer);
    this.#sessions.delete(peer);
    void session?.then(
      ({ link }) => link.peer !== undefined && link.retire(),
      () => {},
    );
  }

  /** For calls to oneself, and for everybody where one instance is shared. */
  #ownSession(): Promise<Session> {
    if (this.#own !== undefined) return this.#own;
    const isShared = typeof this.#server !== "function";
    const own = this.#openSession(isShared ? undefined : this.#core.id, undefined);
    this.#own = own;
    // A failed one is forgotten, so that the next caller tries again.
    own.catch(() => {
      if (this.#own === own) this.#own = undefined;
    });
    return own;
  }

  async #openSession(
    peer: string | undefined,
    params: JsonObject | undefined,
    envelopeId?: string,
  ): Promise<Session> {
    const server =
      typeof this.#server === "function" ? await this.#server(peer ?? this.#core.id) : this.#server;
    const link = new ServedLink(this.#core, this.#options, peer, (closed) => this.#links.delete(closed));
    link.show = (result, to) => this.#guard?.shown(result, to) ?? result;
    const [oldest] = this.#links;
    if (this.#links.size >= 2 * sessionsMax && oldest !== undefined) void oldest.close();
    this.#links.add(link);
    try {
      await server.connect(link);
      const introduction = await (params === undefined
        ? link.introduce()
        : link.call("initialize", params, { envelopeId }));
      if (params !== undefined) link.note("notifications/initialized");
      return { link, introduction };
    } catch (error) {
      // Or they would fill up the places of those that others talk over.
      await link.close();
      throw error;
    }
  }
}

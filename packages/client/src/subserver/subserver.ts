// Keeps a server registered: registers, comes back, goes to a backup, and tells when it must not come back.
import type { JsonObject, RegistrationAnswer } from "@mcpx/protocol";
import { pause, within } from "../core/pause.ts";
import { RoomError } from "../core/room-error.ts";
import type { ServableServer } from "../serving/served-link.ts";
import type { Channel, ChannelTaker } from "./channel.ts";
import { Itinerary } from "./itinerary.ts";
import { Lease } from "./lease.ts";
import { Membership } from "./membership.ts";
import { asRoomError } from "./refusal.ts";
import type { ServerSource } from "./server-source.ts";

export type SubserverState = "connecting" | "registered" | "waiting" | "over";

export interface SubserverOptions {
  addresses: readonly string[];
  servers: ServerSource;
  token(): Promise<string | undefined>;
  /** Of `mcpax/register`, as they are now. */
  params(): Promise<JsonObject>;
  /** What stands below us, as `mcpax/update` says it. */
  subtree: (() => JsonObject) | undefined;
  /** Told of ids below us that the aggregator refused when it registered us. */
  onRefused: ((subserverIds: readonly string[]) => void) | undefined;
  open(address: string, token: string | undefined, first: JsonObject, taker: ChannelTaker): Channel;
  onState: ((state: SubserverState, error: Error | undefined) => void) | undefined;
}

/** How long a token, a proof or a server may take to be made. */
const prepareMs = 10_000;
const parentIdsMax = 16;

export class Subserver implements AsyncDisposable {
  /** The first answer of an aggregator; rejects where none will have us. */
  readonly registered: Promise<RegistrationAnswer>;
  /** Resolves when it is over: with why, or with nothing where it was closed. */
  readonly ended: Promise<Error | undefined>;
  readonly #options: SubserverOptions;
  readonly #itinerary: Itinerary;
  readonly #lease = new Lease();
  readonly #registered = Promise.withResolvers<RegistrationAnswer>();
  readonly #closing = new AbortController();
  /** Aggregators that have taken us; of an address another may answer one day. */
  readonly #parentIds = new Set<string>();
  #membership: Membership | undefined;
  #state: SubserverState = "connecting";

  constructor(options: SubserverOptions) {
    this.#options = options;
    this.#itinerary = new Itinerary(options.addresses);
    this.registered = this.#registered.promise;
    // Who does not wait for it learns the same from `ended`.
    this.registered.catch(() => {});
    this.ended = this.#run();
  }

  get state(): SubserverState {
    return this.#state;
  }

  /** The aggregator whose lease has not ended, by our clock. [AX-13.4-2] */
  get parentId(): string | null {
    return this.#lease.parentId(performance.now());
  }

  /** The aggregators that have taken us so far, the latest 16, also while there is no connection. */
  get parentIds(): ReadonlySet<string> {
    return this.#parentIds;
  }

  /**
   * Tells the aggregator that what stands below us has changed; rejects with the reason `registration_cycle` where that
   * would close a circle. Resolves with the `subserver_id`s below us that are registered elsewhere, and must go. While we
   * are not registered there is nobody to tell: the next registration does. [AX-5.3-3] [AX-13.4-1]
   */
  async update(): Promise<readonly string[]> {
    const { subtree } = this.#options;
    if (subtree === undefined) throw new RoomError("bad_option", "subtreeIds was not given");
    if (this.#closing.signal.aborted) throw closed();
    return (await this.#membership?.update(subtree())) ?? [];
  }

  /** Leaves the tree at once and for good. The server is let go, not ended, unless a factory made it. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #run(): Promise<Error | undefined> {
    const { signal } = this.#closing;
    while (!signal.aborted) {
      this.#setState("connecting", undefined);
      const { error, livedMs } = await this.#attempt();
      if (signal.aborted) break;
      const leaseLeftMs = this.#lease.leftMs(performance.now());
      const waitMs = this.#itinerary.next({ error, livedMs, leaseLeftMs }, Math.random());
      if (waitMs === undefined) return this.#finish(error);
      this.#setState("waiting", error);
      await pause(waitMs, signal);
    }
    return this.#finish(undefined);
  }

  async #finish(error: RoomError | undefined): Promise<Error | undefined> {
    this.#closing.abort();
    await this.#options.servers.close();
    this.#registered.reject(error ?? closed());
    this.#setState("over", error);
    return error;
  }

  /** One connection, from what it needs to its end; `livedMs` is how long we were registered. */
  async #attempt(): Promise<{ error: RoomError; livedMs: number | undefined }> {
    const { signal } = this.#closing;
    let leaving: Promise<void> | undefined;
    try {
      const late = new RoomError("network", "the token, the proof or the server took too long");
      const prepared = await within(this.#prepare(), signal, { ms: prepareMs, error: late });
      const membership = this.#join(prepared);
      const leave = () => {
        leaving = membership.leave(closed());
      };
      signal.addEventListener("abort", leave, { once: true });
      void membership.ended.then(() => signal.removeEventListener("abort", leave));
      if (signal.aborted) leave();
      const answer = await membership.register();
      const registeredAtMs = performance.now();
      await this.#arrive(membership, prepared, answer);
      const error = await membership.ended;
      return { error, livedMs: performance.now() - registeredAtMs };
    } catch (thrown) {
      return { error: asRoomError(thrown), livedMs: undefined };
    } finally {
      this.#membership = undefined;
      await leaving;
    }
  }

  async #prepare(): Promise<Prepared> {
    const { servers, token, params } = this.#options;
    return { server: await servers.next(), token: await token(), params: await params() };
  }

  #join({ server, token, params }: Prepared): Membership {
    const { servers, open } = this.#options;
    const { address } = this.#itinerary;
    const membership = new Membership({
      params,
      lease: this.#lease,
      open: (first, taker) => open(address, token, first, taker),
      serve: (link) => servers.connect(server, link),
      serverClosed: () => this.#closing.abort(),
    });
    void membership.ended.then(() => servers.done(server));
    return membership;
  }

  async #arrive(membership: Membership, { params }: Prepared, answer: RegistrationAnswer): Promise<void> {
    this.#membership = membership;
    this.#parentIds.delete(answer.aggregator_id);
    this.#parentIds.add(answer.aggregator_id);
    const [oldest] = this.#parentIds;
    if (this.#parentIds.size > parentIdsMax && oldest !== undefined) this.#parentIds.delete(oldest);
    const refused = new Set(answer.refused_subserver_ids);
    const now = this.#options.subtree?.() ?? {};
    // What has changed while we were asking.
    if (Object.entries(now).some(([key, ids]) => String(ids) !== String(params[key]))) {
      try {
        for (const id of await membership.update(now)) refused.add(id);
      } catch (error) {
        await membership.leave(asRoomError(error));
        throw error;
      }
    }
    if (refused.size > 0) this.#options.onRefused?.([...refused]);
    this.#itinerary.arrive();
    this.#registered.resolve(answer);
    this.#setState("registered", undefined);
  }

  #setState(state: SubserverState, error: Error | undefined): void {
    if (this.#state === state) return;
    this.#state = state;
    try {
      this.#options.onState?.(state, error);
    } catch (thrown) {
      // Not ours to handle, and not to be stopped by.
      queueMicrotask(() => {
        throw thrown;
      });
    }
  }
}

interface Prepared {
  server: ServableServer;
  token: string | undefined;
  params: JsonObject;
}

function closed(): RoomError {
  return new RoomError("closed", "the subserver was closed");
}

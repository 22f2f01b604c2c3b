// The subscription by which a modern server tells of changes: one, opened anew where the wishes change or it breaks.
// The new one stands before the old one ends, and what may have been missed is announced as changed.
import { backoffMs, isMcpxError, isObject, type JsonObject, written } from "@mcpx/protocol";
import { type LogLevel, metaKeys, unaskedKey } from "../mcp/era.ts";
import { RpcError, rpcCodes } from "../mcp/rpc-error.ts";
import type { Conversation, InFlight } from "./conversation.ts";
import type { LinkTaker } from "./link.ts";

export interface Filter {
  toolsListChanged?: boolean;
  promptsListChanged?: boolean;
  resourcesListChanged?: boolean;
  resourceSubscriptions?: readonly string[];
  /** Trees only. */
  [unaskedKey]?: { logLevel: LogLevel };
}

interface Subscription {
  readonly id: string;
  readonly stop: AbortController;
  isAcknowledged: boolean;
}

type Listen = (id: string, filter: Filter, signal: AbortSignal) => Promise<JsonObject>;

const backoff = { minMs: 500, maxMs: 60_000 };
/** A server that has not acknowledged by then never will. */
const ackTimeoutMs = 30_000;
/** A server that cannot be reached so many times in a row is lost. */
const lostAfter = 2;

export class Listening {
  readonly #conversation: Conversation;
  readonly #taker: LinkTaker;
  readonly #listen: Listen;
  readonly #live = new Map<string, Subscription>();
  #filter: Filter = {};
  #newest: Subscription | undefined;
  #count = 0;
  #failures = 0;
  /** Changes may have happened that nobody told of. */
  #hasGap = false;
  #isClosed = false;
  #timer: NodeJS.Timeout | undefined;
  #onAcknowledged: (() => void) | undefined;

  constructor(conversation: Conversation, taker: LinkTaker, listen: Listen) {
    this.#conversation = conversation;
    this.#taker = taker;
    this.#listen = listen;
  }

  want(filter: Filter): void {
    if (this.#isClosed || JSON.stringify(filter) === JSON.stringify(this.#filter)) return;
    this.#filter = filter;
    this.#open();
  }

  /** Resolves when the server has said that it tells, or after this time. */
  async acknowledged(timeoutMs: number): Promise<void> {
    if (this.#newest === undefined || this.#newest.isAcknowledged) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(() => {
        this.#hasGap = true;
        resolve();
      }, timeoutMs);
      this.#onAcknowledged = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  /** Returns whether it was for a subscription. */
  heard(method: string, params: JsonObject, on: InFlight | undefined): boolean {
    const meta = isObject(params._meta) ? params._meta : {};
    const id = meta[metaKeys.subscriptionId] ?? (on !== undefined && this.#live.has(written(on.id)) && on.id);
    if (method === "notifications/cancelled") {
      const ended = this.#live.get(written(params.requestId));
      ended?.stop.abort();
      return ended !== undefined;
    }
    if (typeof id !== "string") return false;
    const subscription = this.#live.get(id);
    if (subscription === undefined) return true;
    if (method === "notifications/subscriptions/acknowledged") this.#acknowledge(subscription);
    else {
      const { [metaKeys.subscriptionId]: _, ...rest } = meta;
      const { _meta, ...others } = params;
      const isBare = Object.keys(rest).length === 0;
      this.#taker.notification(method, isBare ? others : { ...others, _meta: rest });
    }
    return true;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    this.#onAcknowledged?.();
    for (const { stop } of this.#live.values()) stop.abort();
  }

  #open(): void {
    clearTimeout(this.#timer);
    if (Object.keys(this.#filter).length === 0) {
      this.#newest = undefined;
      for (const { stop } of this.#live.values()) stop.abort();
      return;
    }
    this.#count += 1;
    const subscription: Subscription = {
      id: `listen-${this.#count}`,
      stop: new AbortController(),
      isAcknowledged: false,
    };
    this.#newest = subscription;
    this.#live.set(subscription.id, subscription);
    this.#timer = setTimeout(() => !subscription.isAcknowledged && subscription.stop.abort(), ackTimeoutMs);
    this.#timer.unref();
    this.#listen(subscription.id, this.#filter, subscription.stop.signal).then(
      () => this.#broke(subscription, undefined),
      (error: unknown) => this.#broke(subscription, error),
    );
  }

  #acknowledge(subscription: Subscription): void {
    subscription.isAcknowledged = true;
    if (subscription !== this.#newest) return;
    if (this.#failures >= lostAfter) this.#taker.reach?.(undefined);
    this.#failures = 0;
    for (const other of this.#live.values()) if (other !== subscription) other.stop.abort();
    this.#onAcknowledged?.();
    if (!this.#hasGap) return;
    this.#hasGap = false;
    this.#announceAll();
  }

  #announceAll(): void {
    const { toolsListChanged, promptsListChanged, resourcesListChanged, resourceSubscriptions } =
      this.#filter;
    if (toolsListChanged) this.#taker.notification("notifications/tools/list_changed", {});
    if (promptsListChanged) this.#taker.notification("notifications/prompts/list_changed", {});
    if (resourcesListChanged) this.#taker.notification("notifications/resources/list_changed", {});
    for (const uri of resourceSubscriptions ?? []) {
      this.#taker.notification("notifications/resources/updated", { uri });
    }
  }

  #broke(subscription: Subscription, error: unknown): void {
    this.#live.delete(subscription.id);
    if (this.#isClosed || subscription !== this.#newest) return;
    this.#newest = undefined;
    this.#hasGap = true;
    if (error instanceof RpcError && error.fault.code === rpcCodes.methodNotFound) {
      this.#conversation.logLine("(it does not know subscriptions/listen: changes go unnoticed)");
      this.#onAcknowledged?.();
      return;
    }
    const delayMs = backoffMs(this.#failures, backoff);
    this.#failures += 1;
    if (this.#failures >= lostAfter && isMcpxError(error) && error.code === "server_unreachable") {
      this.#taker.reach?.(error.detail);
    }
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#open(), delayMs);
    this.#timer.unref();
  }
}

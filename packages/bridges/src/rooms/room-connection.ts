// One person's own connection to a room, as small as it can be: it sends, and waits for what answers that. Everything
// else the room says is not even parsed, so that hundreds of them cost little.
import type { WebSocketLike } from "@mcpx/client";
import { isObject, type JsonObject, written } from "@mcpx/protocol";

export interface RoomConnectionDraft {
  id: string;
  kind: string;
  payload: JsonObject;
  to?: readonly string[];
  correlation_id?: string;
}

/** The gateway's or a peer's no, by its word. */
export class RoomConnectionRefusal extends Error {
  readonly reason: string;

  constructor(reason: string, message: string) {
    super(message);
    this.name = "RoomConnectionRefusal";
    this.reason = reason;
  }
}

interface Waiting {
  /** Returns whether this was what was waited for. */
  take(envelope: JsonObject): boolean;
  fail(error: Error): void;
}

const answerMs = 10_000;

export class RoomConnection {
  readonly #socket: WebSocketLike;
  /** Waiting requests, by a text that every answer contains. */
  readonly #waiting = new Map<string, Waiting>();
  readonly closed: Promise<string>;
  usedAt = performance.now();

  constructor(socket: WebSocketLike) {
    this.#socket = socket;
    const closed = Promise.withResolvers<string>();
    this.closed = closed.promise;
    socket.onmessage = ({ data }: { data: unknown }) => this.#hear(String(data));
    socket.onclose = ({ reason }: { reason: string }) => {
      closed.resolve(reason);
      for (const { fail } of [...this.#waiting.values()])
        fail(new RoomConnectionRefusal(reason || "closed", "the connection ended"));
    };
  }

  get isIdle(): boolean {
    return this.#waiting.size === 0;
  }

  /** Resolves when the gateway has it on disk. The same id with the same body counts once. */
  async publish(draft: RoomConnectionDraft): Promise<void> {
    await this.#exchange(draft, ({ kind, payload, correlation_id }) => {
      if (!isObject(payload)) return undefined;
      if (kind === "system" && payload.event === "ack" && payload.id === draft.id) return {};
      if (correlation_id !== draft.id) return undefined;
      if (kind === "system" && payload.event === "error") throw refusalOf(payload);
      if (kind === "mcp" && isObject(payload.error)) throw refusalOf(payload.error);
      return undefined;
    });
  }

  /** Resolves with the peer's answer. */
  request(peer: string, id: string, method: string, params: JsonObject): Promise<JsonObject> {
    const draft = { id, kind: "mcp", to: [peer], payload: { jsonrpc: "2.0", id, method, params } };
    return this.#exchange(draft, ({ kind, from, payload, correlation_id }) => {
      if (correlation_id !== id || !isObject(payload)) return undefined;
      if (kind === "system" && payload.event === "error") throw refusalOf(payload);
      if (kind !== "mcp" || (from !== peer && from !== "system:gateway")) return undefined;
      if (isObject(payload.error)) throw refusalOf(payload.error);
      return isObject(payload.result) ? payload.result : undefined;
    });
  }

  close(): void {
    this.#socket.close(1000, "");
  }

  #exchange(
    draft: RoomConnectionDraft,
    read: (envelope: JsonObject) => JsonObject | undefined,
  ): Promise<JsonObject> {
    const { promise, resolve, reject } = Promise.withResolvers<JsonObject>();
    const timer = setTimeout(
      () => waiting.fail(new RoomConnectionRefusal("timeout", "nobody answered in time")),
      answerMs,
    );
    const end = () => {
      clearTimeout(timer);
      this.#waiting.delete(draft.id);
      this.usedAt = performance.now();
    };
    const waiting: Waiting = {
      take: (envelope) => {
        try {
          const result = read(envelope);
          if (result === undefined) return false;
          end();
          resolve(result);
        } catch (error) {
          end();
          reject(error);
        }
        return true;
      },
      fail: (error) => {
        end();
        reject(error);
      },
    };
    this.#waiting.set(draft.id, waiting);
    this.#socket.send(JSON.stringify({ protocol: "mcpx/v0.1", ts: new Date().toISOString(), ...draft }));
    return promise;
  }

  #hear(text: string): void {
    for (const [id, waiting] of [...this.#waiting]) {
      if (!text.includes(id)) continue;
      const envelope: unknown = JSON.parse(text);
      if (isObject(envelope) && waiting.take(envelope)) return;
    }
  }
}

function refusalOf(error: JsonObject): RoomConnectionRefusal {
  const data = isObject(error.data) ? error.data : {};
  const reason = written(error.reason ?? data.reason ?? error.code);
  return new RoomConnectionRefusal(reason, written(data.detail ?? error.message ?? reason));
}

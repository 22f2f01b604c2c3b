// A channel over HTTP: what the aggregator says is one event stream, what we say is a POST each. [AX-6.1-3]
import { EventReader, isObject, type JsonObject } from "@mcpx/protocol";
import { RoomError } from "../core/room-error.ts";
import { type Channel, type ChannelOptions, messageCharsMax, readMessage } from "./channel.ts";
import { asRoomError, statusError } from "./refusal.ts";

const sessionHeader = "mcpax-session";
const postMs = 15_000;
const waitingMax = 1_000;

export function openHttpChannel(
  url: string,
  headers: Record<string, string>,
  options: ChannelOptions,
): Channel {
  const channel = new HttpChannel(url, headers, options);
  void channel.open();
  return channel;
}

class HttpChannel implements Channel {
  readonly released: Promise<void>;
  readonly #url: string;
  readonly #headers: Record<string, string>;
  readonly #options: ChannelOptions;
  readonly #stop = new AbortController();
  readonly #released = Promise.withResolvers<void>();
  #session: string | undefined;
  /** Answers and notifications arrive in the order they were sent in. */
  #tail: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(url: string, headers: Record<string, string>, options: ChannelOptions) {
    this.#url = url;
    this.#headers = { ...headers, "content-type": "application/json" };
    this.#options = options;
    this.released = this.#released.promise;
  }

  async open(): Promise<void> {
    try {
      const response = await fetch(this.#url, {
        method: "POST",
        headers: { ...this.#headers, accept: "text/event-stream" },
        body: JSON.stringify(this.#options.first),
        signal: this.#stop.signal,
      });
      this.#session = response.headers.get(sessionHeader) ?? undefined;
      if (response.ok && isOfType(response, "text/event-stream")) {
        const events = new EventReader(messageCharsMax, {
          event: (data) => data !== "" && this.#hear(readMessage(data, this.#options)),
          tooLarge: () => {
            throw new RoomError("bad_answer", "the aggregator sent an event that is too large");
          },
        });
        await readText(response, (text) => events.push(text));
      } else await this.#hearRefusal(response);
      throw new RoomError("network", "the stream has ended");
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#released.resolve();
    }
  }

  send(message: JsonObject): Promise<void> {
    if (this.#stop.signal.aborted) {
      return Promise.reject(new RoomError("network", "the connection has ended"));
    }
    // A request of ours waits for its answer, and nothing waits for that.
    if (isOwnRequest(message)) return this.#post(message);
    if (this.#waiting >= waitingMax) {
      const error = new RoomError("network", "the aggregator does not accept messages fast enough");
      this.#fail(error);
      return Promise.reject(error);
    }
    this.#waiting += 1;
    const sent = this.#tail
      .then(() => this.#post(message))
      .finally(() => {
        this.#waiting -= 1;
      });
    this.#tail = sent.catch(() => {});
    return sent;
  }

  end(): void {
    this.#stop.abort();
  }

  async #post(message: JsonObject): Promise<void> {
    if (this.#session === undefined) throw new RoomError("network", "there is no session yet");
    let response: Response;
    try {
      response = await fetch(this.#url, {
        method: "POST",
        headers: { ...this.#headers, accept: "application/json", [sessionHeader]: this.#session },
        body: JSON.stringify(message),
        signal: AbortSignal.any([this.#stop.signal, AbortSignal.timeout(postMs)]),
      });
      let text = "";
      await readText(response, (more) => {
        text += more;
      });
      if (response.ok) {
        if (text !== "") this.#hear(readMessage(text, this.#options));
        return;
      }
      throw statusError(response, parsed(text));
    } catch (error) {
      // What one message is refused for is told to its sender; without its session the channel is over.
      const isRefusal = error instanceof RoomError && error.reason !== "network";
      if (!isRefusal || lost.has(error.reason)) this.#fail(error);
      throw error;
    }
  }

  #hear(message: JsonObject): void {
    if (this.#stop.signal.aborted) return;
    if (message.id === this.#options.first.id && isObject(message.result) && message.method === undefined) {
      const { session_id } = message.result;
      if (typeof session_id === "string") this.#session = session_id;
    }
    this.#options.taker.message(message);
  }

  async #hearRefusal(response: Response): Promise<void> {
    let text = "";
    await readText(response, (more) => {
      text += more;
    });
    const body = parsed(text);
    if (isObject(body) && body.jsonrpc === "2.0" && body.id === this.#options.first.id) this.#hear(body);
    else throw statusError(response, body);
  }

  #fail(thrown: unknown): void {
    if (this.#stop.signal.aborted) return;
    this.#stop.abort();
    this.#options.taker.ended(asRoomError(thrown));
  }
}

const lost: ReadonlySet<string> = new Set([
  "bad_answer",
  "registration_unknown",
  "session_unknown",
  "token_expired",
  "token_revoked",
  "unauthorised",
]);

function isOwnRequest({ method, id }: JsonObject): boolean {
  return typeof method === "string" && method.startsWith("mcpax/") && id !== undefined;
}

function isOfType({ headers }: Response, type: string): boolean {
  return (headers.get("content-type") ?? "").toLowerCase().startsWith(type);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // What is no JSON says no more than its status does.
    return undefined;
  }
}

/** All of it, bit by bit; an answer in one piece is bounded, a stream by its consumer. */
async function readText(response: Response, take: (text: string) => void): Promise<void> {
  const isStream = isOfType(response, "text/event-stream");
  const decoder = new TextDecoder();
  let chars = 0;
  const reader = response.body?.getReader();
  for (;;) {
    const chunk = await reader?.read();
    if (chunk === undefined || chunk.done) break;
    const text = decoder.decode(chunk.value, { stream: true });
    chars += text.length;
    if (!isStream && chars > messageCharsMax) {
      throw new RoomError("bad_answer", "the aggregator's answer is too large");
    }
    take(text);
  }
}

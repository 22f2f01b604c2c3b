// A participant made of nothing but a WebSocket: it sends texts and takes what comes, in order.
import { randomUUID } from "node:crypto";
import WebSocket from "ws";

// biome-ignore lint/suspicious/noExplicitAny: tests look into envelopes of any shape
export type Seen = any;

export class TestClient {
  /** Everything received and not yet taken. */
  readonly inbox: Seen[] = [];
  /** The same, as it came. */
  readonly texts: string[] = [];
  closed: { code: number; reason: string } | undefined;
  /** The first message, where `enter` took it. */
  welcome: Seen;
  readonly ws: WebSocket;
  readonly id: string;
  #wake: (() => void)[] = [];

  private constructor(ws: WebSocket, id: string) {
    this.ws = ws;
    this.id = id;
    ws.on("message", (data) => {
      this.texts.push(String(data));
      this.inbox.push(JSON.parse(String(data)));
      this.#notify();
    });
    ws.on("close", (code, reason) => {
      this.closed = { code, reason: String(reason) };
      this.#notify();
    });
    ws.on("error", () => this.#notify());
  }

  /** Over something that looks like the library's WebSocket and is open already. */
  static over(ws: unknown, id: string): TestClient {
    return new TestClient(ws as WebSocket, id);
  }

  /** Connects, or throws with the HTTP status and reason of the refusal. */
  static async connect(
    url: string,
    token: string | undefined,
    query: Record<string, string>,
    options: WebSocket.ClientOptions = {},
    subprotocols: string[] = [],
  ): Promise<TestClient> {
    const address = `${url.replace("http", "ws")}/v0/ws?${new URLSearchParams(query)}`;
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const ws = new WebSocket(address, subprotocols, {
      ...options,
      headers: { ...headers, ...options.headers },
    });
    const id = token === undefined ? "" : JSON.parse(atob(token.split(".")[1] ?? "")).sub;
    const client = new TestClient(ws, id);
    await new Promise<void>((resolve, reject) => {
      ws.once("open", () => resolve());
      ws.once("error", reject);
      ws.once("unexpected-response", (_request, response) => {
        let body = "";
        response.on("data", (chunk) => {
          body += chunk;
        });
        response.on("end", () =>
          reject(new HttpRefusal(response.statusCode ?? 0, JSON.parse(body).error, response.headers)),
        );
      });
    });
    return client;
  }

  /** Sends an envelope; what is left out gets a plain value. Returns its id. */
  send(envelope: Record<string, unknown>): string {
    const id = (envelope.id as string | undefined) ?? randomUUID();
    this.ws.send(JSON.stringify({ protocol: "mcpx/v0.1", ...envelope, id }));
    return id;
  }

  say(text: string, more: Record<string, unknown> = {}): string {
    return this.send({ kind: "chat", payload: { text }, ...more });
  }

  /** The next message, whatever it is. */
  async next(): Promise<Seen> {
    await this.#until(() => this.inbox.length > 0, "a message");
    return this.inbox.shift();
  }

  /** The next message that fits; what comes before it is dropped. */
  async find(fits: (message: Seen) => boolean): Promise<Seen> {
    for (;;) {
      const message = await this.next();
      if (fits(message)) return message;
    }
  }

  event(event: string): Promise<Seen> {
    return this.find((message) => message.payload.event === event);
  }

  ack(id: string): Promise<Seen> {
    return this.find((message) => message.payload.event === "ack" && message.payload.id === id);
  }

  /** What the gateway says to an envelope of ours: its ack or its refusal. */
  answer(id: string): Promise<Seen> {
    return this.find((message) => message.from === "system:gateway" && message.correlation_id === id);
  }

  /** The same in one word: `ack`, or the reason of the refusal. */
  async outcome(id: string): Promise<string> {
    const { payload } = await this.answer(id);
    return payload.error?.data.reason ?? payload.reason ?? payload.event;
  }

  /** Takes everything that has come so far. */
  async taken(): Promise<Seen[]> {
    await this.settled();
    return this.inbox.splice(0);
  }

  /** Waits until everything the server had written before is here: a ping comes back behind it. */
  async settled(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.ws.once("pong", () => resolve());
      this.ws.ping();
    });
  }

  async closing(): Promise<{ code: number; reason: string }> {
    await this.#until(() => this.closed !== undefined, "the end of the connection", true);
    return this.closed as { code: number; reason: string };
  }

  async leave(): Promise<void> {
    this.ws.close();
    await this.closing();
  }

  async #until(isThere: () => boolean, what: string, mayBeClosed = false): Promise<void> {
    const deadline = AbortSignal.timeout(10_000);
    while (!isThere()) {
      if (deadline.aborted) throw new Error(`${this.id} waited in vain for ${what}`);
      if (!mayBeClosed && this.closed !== undefined) {
        throw new Error(
          `${this.id} was closed (${this.closed.code} ${this.closed.reason}) waiting for ${what}`,
        );
      }
      await new Promise<void>((resolve) => {
        this.#wake.push(resolve);
        deadline.addEventListener("abort", () => resolve(), { once: true });
      });
    }
  }

  #notify(): void {
    for (const wake of this.#wake.splice(0)) wake();
  }
}

export class HttpRefusal extends Error {
  readonly status: number;
  readonly error: { code: number; reason: string; message: string };
  readonly headers: Record<string, string | string[] | undefined>;

  constructor(status: number, error: HttpRefusal["error"], headers: HttpRefusal["headers"]) {
    super(`${status} ${error.reason}`);
    this.status = status;
    this.error = error;
    this.headers = headers;
  }
}

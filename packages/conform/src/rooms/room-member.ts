// A participant made of nothing but a WebSocket: it sends texts and takes what comes, in order.
import WebSocket from "ws";

// biome-ignore lint/suspicious/noExplicitAny: envelopes of any shape are looked into
export type Seen = any;

const waitMs = 10_000;

export class RoomMember {
  /** Everything received and not yet taken. */
  readonly inbox: Seen[] = [];
  /** The same, as it came. */
  readonly texts: string[] = [];
  closed: { code: number; reason: string } | undefined;
  readonly ws: WebSocket;
  readonly id: string;
  #wake: (() => void)[] = [];

  /** Over something that looks like the library's WebSocket. */
  constructor(ws: WebSocket, id: string) {
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

  /** Connects, or throws with the HTTP status and reason of the refusal. */
  static async connect<Member extends typeof RoomMember>(
    this: Member,
    url: string,
    token: string | undefined,
    query: Record<string, string>,
    options: WebSocket.ClientOptions = {},
    subprotocols: string[] = [],
  ): Promise<InstanceType<Member>> {
    const address = `${url.replace("http", "ws")}/v0/ws?${new URLSearchParams(query)}`;
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const ws = new WebSocket(address, subprotocols, {
      ...options,
      headers: { ...headers, ...options.headers },
    });
    // A message may come in the same packet as the answer to the upgrade: it is listened for from the beginning.
    const member = new this(ws, subjectOf(token)) as InstanceType<Member>;
    await opened(ws);
    return member;
  }

  /** The next message, whatever it is. */
  async next(): Promise<Seen> {
    await this.#until(() => this.inbox.length > 0, "a message");
    return this.inbox.shift();
  }

  /** Waits until everything the server had written before is here: a pong comes behind it. */
  async settled(): Promise<void> {
    let hasPong = false;
    this.ws.once("pong", () => {
      hasPong = true;
      this.#notify();
    });
    this.ws.ping();
    await this.#until(() => hasPong, "a pong");
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
    const deadline = AbortSignal.timeout(waitMs);
    while (!isThere()) {
      if (deadline.aborted)
        throw new Error(`${this.id} waited ${waitMs / 1_000} s, and did not receive ${what}`);
      if (!mayBeClosed && this.closed !== undefined) {
        const { code, reason } = this.closed;
        throw new Error(`${this.id} was closed (${code} ${reason}) waiting for ${what}`);
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

function subjectOf(token: string | undefined): string {
  if (token === undefined) return "";
  try {
    return JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()).sub ?? "";
  } catch {
    return "";
  }
}

async function opened(ws: WebSocket): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    ws.once("open", () => resolve());
    ws.once("error", reject);
    ws.once("unexpected-response", (_request, response) => {
      let body = "";
      response.on("data", (chunk) => {
        body += chunk;
      });
      response.on("end", () =>
        reject(new HttpRefusal(response.statusCode ?? 0, readRefusal(body), response.headers)),
      );
    });
  });
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

/** A body that is no error of ours is a refusal too, of a reason nobody knows. */
function readRefusal(body: string): HttpRefusal["error"] {
  try {
    const { error } = JSON.parse(body);
    if (typeof error?.reason === "string") return error;
  } catch {
    // Told below, with the body itself.
  }
  return { code: 0, reason: "without a reason", message: body.slice(0, 200) };
}

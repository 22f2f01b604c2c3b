// What must hold after every attack, whatever it was: the server lives, others are served, nothing leaked, the denial
// is on record, and the attacker's connection works or was closed with a documented code.
import { closeCodes, errorTable, type Reason } from "@mcpx/protocol";
import { enter, enterWith } from "../support/enter.ts";
import type { Seen, TestClient } from "../support/test-client.ts";
import { startTestServer, type TestServer, type TestServerOptions } from "../support/test-server.ts";
import { memoryInUse } from "./memory-in-use.ts";
import { ping, RawSocket } from "./raw-socket.ts";

/** Planted wherever an attack has room for it; no log line may hold it. */
export const canary = "canary-d41a6f02c9";

export interface Findings {
  /** The attacker's connection, where it has one. */
  connection?: TestClient | RawSocket | undefined;
  /** With which code it must have been closed; without, it must still work. */
  closes?: number | undefined;
  /** Reasons of the denials on record, each as often as it must be there; nothing else may be. */
  denials?: readonly string[] | undefined;
  /** Whose name the denials carry: the connection's own, else the attacker's address, unless given. */
  actor?: string | undefined;
  /** How many envelopes of attackers the bystanders must have seen. */
  published?: number | undefined;
}

const mebibyte = 1_048_576;
const documented = Object.values(closeCodes) as number[];

/** Raised where a case is not about rates. */
const limits = {
  envelopesPerSecondFull: 100_000,
  envelopesPerSecondRestricted: 100_000,
  proposalsPerMinute: 100_000,
  faultsPerMinute: 100_000,
  handshakesPerSecond: 100_000,
};

/** What a client has kept is the test's memory, not the server's. */
function forget({ inbox, texts }: TestClient): void {
  inbox.length = 0;
  texts.length = 0;
}

const bystanders = ["speaker", "listener", "admin"];

export class Oracle {
  readonly server: TestServer;
  /** What went wrong in this process without anybody catching it. */
  readonly faults: unknown[] = [];
  /** Texts of attackers' envelopes as the last round trip's bystander got them. */
  published: Seen[] = [];
  readonly topic = "room:target";
  readonly #secrets = new Set<string>([canary]);
  readonly #admin: string;
  #speaker: TestClient;
  #listener: TestClient;
  readonly #clients: TestClient[] = [];
  #standing: TestClient | undefined;
  #logSeen = 0;
  #auditSeen = 0;
  #attackers = 0;
  #asked = 0;
  #before = { heap: 0, rss: 0 };

  private constructor(server: TestServer, admin: string, speaker: TestClient, listener: TestClient) {
    this.server = server;
    this.#admin = admin;
    this.#speaker = speaker;
    this.#listener = listener;
    this.#hide(admin);
    process.on("unhandledRejection", this.#onFault);
    process.on("uncaughtException", this.#onFault);
  }

  static async start(options: TestServerOptions = {}): Promise<Oracle> {
    const server = await startTestServer({ ...options, limits: { ...limits, ...options.limits } });
    const topic = "room:target";
    const oracle = new Oracle(
      server,
      await server.adminToken(),
      await enter(server, "speaker", { topic }),
      await enter(server, "listener", { topic }),
    );
    await oracle.check({});
    oracle.#before = memoryInUse();
    return oracle;
  }

  /** A new attacker's token; no log may ever hold it. */
  async token(claims: Partial<Parameters<TestServer["token"]>[0]> = {}): Promise<string> {
    this.#attackers += 1;
    const sub = `mallory-${this.#attackers}`;
    return this.hide(await this.server.token({ sub, topics: [this.topic], level: "full", ...claims }));
  }

  /** A new attacker in the room. */
  async attacker(
    claims: Partial<Parameters<TestServer["token"]>[0]> = {},
    query: Record<string, string> = {},
  ): Promise<TestClient> {
    const client = await enterWith(this.server, await this.token(claims), { topic: this.topic, ...query });
    this.#clients.push(client);
    return client;
  }

  /** The attacker of the cases before, as long as nobody has thrown it out: one connection takes many of them. */
  async sameAttacker(): Promise<TestClient> {
    if (this.#standing === undefined || this.#standing.closed !== undefined) {
      this.#standing = await this.attacker();
    }
    forget(this.#standing);
    return this.#standing;
  }

  /** A new attacker in the room whose every byte is its own. */
  async rawAttacker(
    claims: Partial<Parameters<TestServer["token"]>[0]> = {},
    changes: Record<string, string | undefined> = {},
  ): Promise<RawSocket> {
    const raw = await RawSocket.connect(this.server.url);
    raw.write(this.handshake(await this.token(claims), changes));
    const { status } = await raw.answer();
    if (status !== 101) throw new Error(`the handshake was answered with ${status}`);
    const { to } = await raw.find(({ payload }) => payload.event === "welcome");
    raw.id = to[0];
    return raw;
  }

  /** The head of a good handshake, with what the attack changes. */
  handshake(token: string | undefined, changes: Record<string, string | undefined> = {}): string {
    const { target = `/v0/ws?topic=${this.topic}`, version = "HTTP/1.1", ...headers } = changes;
    const lines = Object.entries({
      Host: new URL(this.server.url).host,
      Connection: "Upgrade",
      Upgrade: "websocket",
      "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
      "Sec-WebSocket-Version": "13",
      Authorization: token === undefined ? undefined : `Bearer ${token}`,
      ...headers,
    }).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}`]));
    return `GET ${target} ${version}\r\n${lines.join("\r\n")}\r\n\r\n`;
  }

  /** Remembers a secret: a token, a ticket, a canary of a case. */
  hide(secret: string): string {
    this.#hide(secret);
    return secret;
  }

  /** Looks after everything, and throws with the first thing that is wrong. */
  async check({ connection, closes, denials = [], actor, published = 0 }: Findings): Promise<void> {
    if (connection !== undefined) await this.#checkConnection(connection, closes);
    await this.#roundTrip();
    if (this.published.length !== published) {
      throw new Error(`bystanders saw ${this.published.length} envelopes of attackers, not ${published}`);
    }
    const { status } = await this.server.call("GET", "/healthz");
    if (status !== 200) throw new Error(`/healthz answered ${status}`);
    this.#checkFaults();
    this.#checkLog();
    await this.#checkAudit(denials, actor ?? (connection?.id || undefined));
  }

  /** Loose on purpose: it is to find what grows with every attack, not what breathes. */
  checkMemory(): void {
    for (const client of this.#clients) forget(client);
    const { heap, rss } = memoryInUse();
    const grown = { heap: heap - this.#before.heap, rss: rss - this.#before.rss };
    if (grown.heap > 64 * mebibyte) throw new Error(`the heap has grown by ${grown.heap / mebibyte} MiB`);
    // The attackers live in this process too, and what they have let go of is not given back at once.
    if (grown.rss > 1_024 * mebibyte) throw new Error(`the process has grown by ${grown.rss / mebibyte} MiB`);
  }

  async stop(): Promise<void> {
    try {
      const { body } = await this.server.call("GET", "/admin/audit?limit=1&verify=1", this.#admin);
      if (!body.chain.ok) throw new Error(`the audit chain is broken at ${body.chain.at}`);
      this.checkMemory();
      this.#checkFaults();
    } finally {
      process.off("unhandledRejection", this.#onFault);
      process.off("uncaughtException", this.#onFault);
      await this.server.stop();
    }
  }

  readonly #onFault = (fault: unknown) => void this.faults.push(fault);

  #hide(secret: string): void {
    this.#secrets.add(secret);
    // The part of a token that makes it one.
    const signature = secret.split(".")[2];
    if (signature !== undefined && signature.length > 20) this.#secrets.add(signature);
  }

  async #roundTrip(): Promise<void> {
    const seen: Seen[] = [];
    const id = this.#speaker.say("is anybody there?");
    await this.#speaker.ack(id);
    for (;;) {
      const message = await this.#listener.next();
      if (message.id === id) break;
      seen.push(message);
    }
    forget(this.#speaker);
    this.#listener.texts.length = 0;
    this.published = seen.filter(({ from }) => from !== "system:gateway" && from !== "speaker");
  }

  async #checkConnection(connection: TestClient | RawSocket, closes: number | undefined): Promise<void> {
    if (closes !== undefined || connection.closed !== undefined) {
      const { code } = await connection.closing();
      if (!documented.includes(code)) throw new Error(`closed with ${code}, which is not documented`);
      if (code !== closes) throw new Error(`closed with ${code}, not ${closes ?? "at all"}`);
    } else if (connection instanceof RawSocket) {
      // Those of the attack's own pings may still be coming.
      this.#asked += 1;
      const question = `still there? ${this.#asked}`;
      connection.write(ping(question));
      await connection.until(() => connection.pongs.some((pong) => String(pong) === question), "a pong");
    } else await connection.settled();
  }

  #checkFaults(): void {
    if (this.faults.length > 0)
      throw new Error("something was thrown and not caught", { cause: this.faults[0] });
  }

  #checkLog(): void {
    const { logged } = this.server;
    for (; this.#logSeen < logged.length; this.#logSeen += 1) {
      const line = logged[this.#logSeen] ?? "";
      for (const secret of this.#secrets) {
        if (line.includes(secret)) throw new Error(`a secret was logged: ${line.slice(0, 200)}`);
      }
    }
  }

  /** One record for each denial, and none for what was none. */
  async #checkAudit(denials: readonly string[], actor: string | undefined): Promise<void> {
    const { body } = await this.server.call("GET", "/admin/audit?limit=200", this.#admin);
    const fresh: Seen[] = body.records.filter(
      ({ seq, reason }: Seen) => seq > this.#auditSeen && reason !== undefined,
    );
    this.#auditSeen = body.records[0]?.seq ?? this.#auditSeen;
    const found = fresh.flatMap(({ reason, count }) => Array.from({ length: count }, () => reason));
    if (found.sort().join() !== denials.toSorted().join()) {
      throw new Error(`the audit holds [${found.join()}], not [${denials.join()}]`);
    }
    for (const record of fresh) {
      // Who showed no good token is known by its address only; whoever else is named, it is no bystander.
      const isStranger = errorTable[record.reason as Reason]?.http === 401;
      const expected = actor ?? (isStranger ? "127.0.0.1" : record.actor);
      const isBystander = bystanders.includes(record.actor);
      if (record.actor !== expected || isBystander)
        throw new Error(`the audit names ${record.actor}, not ${expected}`);
    }
  }
}

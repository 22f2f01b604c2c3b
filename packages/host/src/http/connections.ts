// Every connection of the listener: whose account its work is charged to, and which ones go where they are too many. A
// connection is a stranger's until a credential on it was found good; strangers never crowd out those with one.
import { hash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { McpxError } from "@mcpx/protocol";
import type { ByteLedger, Hold } from "../fair/byte-ledger.ts";
import type { PaceOptions } from "../fair/paced-input.ts";
import type { Account, Turns } from "../fair/turns.ts";
import { type Payer, principalKey } from "../principal.ts";
import { addressKey } from "./addresses.ts";
import type { SocketBounds } from "./socket-bounds.ts";

interface Connection {
  readonly socket: Socket;
  readonly peer: string;
  account: Account;
  /** What was found good on it, as it was sent. */
  credential: string | undefined;
  isStranger: boolean;
  isUpgraded: boolean;
}

/** Credentials whose account is remembered beyond their connection. */
const rememberedMax = 10_000;

export class Connections {
  readonly #turns: Turns;
  readonly #bounds: SocketBounds;
  readonly #ledger: ByteLedger;
  readonly #all = new Map<Socket, Connection>();
  readonly #strangers = new Set<Connection>();
  readonly #byAccount = new Map<Account, Set<Connection>>();
  /** Keys of accounts by the hash of a credential: the first request of a new connection has its account at once. */
  readonly #remembered = new Map<string, string>();
  /** For TLS: the socket that carries a connection, by its peer. */
  readonly #byPeer = new Map<string, Connection>();

  constructor(turns: Turns, bounds: SocketBounds, ledger: ByteLedger) {
    this.#ledger = ledger;
    this.#turns = turns;
    this.#bounds = bounds;
  }

  /** A socket has come. */
  add(socket: Socket): void {
    const account = this.#ofAddress(socket);
    const connection: Connection = {
      socket,
      peer: peerOf(socket),
      account,
      credential: undefined,
      isStranger: true,
      isUpgraded: false,
    };
    account.holds += 1;
    this.#all.set(socket, connection);
    this.#strangers.add(connection);
    this.#byPeer.set(connection.peer, connection);
    socket.once("close", () => this.#forget(connection));
    if (this.#strangers.size > this.#bounds.strangersMax) this.#shed(first(this.#strangers));
    else if (this.#all.size > this.#bounds.max) this.#shed(this.#oldestOfMost());
  }

  /** The turn of a request; `undefined` where it has it. `ms` is what it has cost before it was known whose it is. */
  turn(raw: IncomingMessage, ms = 0): Promise<void> | undefined {
    const account = this.#of(raw);
    if (ms > 0) this.#turns.add(account, ms);
    return this.#turns.turn(account);
  }

  nextTurn(raw: IncomingMessage): Promise<void> {
    return this.#turns.nextTurn(this.#of(raw));
  }

  /** What follows is this request's. */
  charge(raw: IncomingMessage): void {
    this.#turns.charge(this.#of(raw));
  }

  run(raw: IncomingMessage, work: () => void): boolean {
    return this.#turns.run(this.#of(raw), work);
  }

  /** Memory for what a request has sent and nobody has read yet. */
  hold(raw: IncomingMessage, bytes: number): Hold {
    return this.#ledger.hold(this.#of(raw), bytes);
  }

  /** The account of a request, by what its connection has shown before. */
  #of(raw: IncomingMessage): Account {
    const connection = this.#find(raw.socket);
    const credential = credentialOf(raw);
    if (connection !== undefined && credential === connection.credential) return connection.account;
    if (credential !== undefined) {
      const key = this.#remembered.get(hash("sha256", credential));
      if (key !== undefined) return this.#turns.account(key);
    }
    return this.#ofAddress(raw.socket);
  }

  /** A request was found to be this principal's: what follows is charged to it, and its connection is no stranger's. */
  prove(raw: IncomingMessage, who: Payer): void {
    const account = this.#turns.account(principalKey(who));
    this.#turns.charge(account);
    const connection = this.#find(raw.socket);
    if (connection === undefined) return;
    const credential = credentialOf(raw);
    if (connection.account !== account || connection.isStranger) this.#give(connection, account);
    if (credential !== undefined && connection.credential !== credential) {
      connection.credential = credential;
      this.#remember(hash("sha256", credential), account.key);
    }
  }

  /** From now on it carries something else than requests. */
  upgraded(socket: Socket): Omit<PaceOptions, "turns"> {
    const connection = this.#find(socket);
    if (connection !== undefined) connection.isUpgraded = true;
    const address = this.#ofAddress(socket);
    const account = () => connection?.account ?? address;
    return { account, hold: (bytes) => this.#ledger.hold(account(), bytes) };
  }

  destroyAll(): void {
    for (const socket of this.#all.keys()) socket.destroy();
  }

  #give(connection: Connection, account: Account): void {
    const own = this.#byAccount.get(account) ?? new Set();
    if (!own.has(connection) && own.size >= this.#bounds.perPrincipalMax) this.#makeSpace(own);
    this.#take(connection);
    connection.account.holds -= 1;
    account.holds += 1;
    connection.account = account;
    connection.isStranger = false;
    this.#byAccount.set(account, own.add(connection));
  }

  /** Its own oldest request connection goes; what was upgraded is in use. */
  #makeSpace(own: ReadonlySet<Connection>): void {
    const oldest = [...own].find(({ isUpgraded }) => !isUpgraded);
    if (oldest === undefined)
      throw new McpxError(
        "too_many_connections",
        `you have ${own.size} connections; the limit is ${this.#bounds.perPrincipalMax}`,
        { retryAfterMs: 5_000 },
      );
    this.#shed(oldest);
  }

  /** Where there are too many in all, whoever has most gives way: its oldest that carries requests. */
  #oldestOfMost(): Connection | undefined {
    const byCount = [...this.#byAccount.values()].sort((one, other) => other.size - one.size);
    for (const own of byCount) {
      const oldest = [...own].find(({ isUpgraded }) => !isUpgraded);
      if (oldest !== undefined) return oldest;
    }
    return first(this.#strangers);
  }

  #shed(connection: Connection | undefined): void {
    if (connection === undefined) return;
    connection.socket.destroy();
    this.#forget(connection);
  }

  #forget(connection: Connection): void {
    if (!this.#all.delete(connection.socket)) return;
    // The next one may have come from the same port already.
    if (this.#byPeer.get(connection.peer) === connection) this.#byPeer.delete(connection.peer);
    this.#take(connection);
    connection.account.holds -= 1;
  }

  #take(connection: Connection): void {
    this.#strangers.delete(connection);
    const own = this.#byAccount.get(connection.account);
    if (own?.delete(connection) === true && own.size === 0) this.#byAccount.delete(connection.account);
  }

  #remember(credentialHash: string, key: string): void {
    this.#remembered.delete(credentialHash);
    this.#remembered.set(credentialHash, key);
    if (this.#remembered.size > rememberedMax) this.#remembered.delete(first(this.#remembered.keys()) ?? "");
  }

  #ofAddress({ remoteAddress = "" }: Socket): Account {
    return this.#turns.account(`address ${addressKey(remoteAddress)}`);
  }

  /** Requests over TLS come on a socket of their own, with the same peer. None where the connection has ended. */
  #find(socket: Socket): Connection | undefined {
    return this.#all.get(socket) ?? this.#byPeer.get(peerOf(socket));
  }
}

function credentialOf({ headers }: IncomingMessage): string | undefined {
  return headers.authorization ?? headers.cookie;
}

function peerOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

function first<Item>(items: Iterable<Item>): Item | undefined {
  for (const item of items) return item;
  return undefined;
}

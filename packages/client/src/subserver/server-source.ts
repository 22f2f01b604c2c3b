// Which server is served over the next connection: always the same one, or a fresh one each time.
import { asError, RoomError } from "../core/room-error.ts";
import type { ServableServer } from "../serving/served-link.ts";
import type { ServedChannel } from "./served-channel.ts";

export type SubserverFactory = () => ServableServer | Promise<ServableServer>;

export class ServerSource {
  readonly #given: ServableServer | SubserverFactory;
  /** Made for a connection that did not come about. */
  #unused: ServableServer | undefined;

  constructor(given: ServableServer | SubserverFactory) {
    this.#given = given;
  }

  async next(): Promise<ServableServer> {
    if (typeof this.#given !== "function") return this.#given;
    try {
      this.#unused ??= await this.#given();
    } catch (cause) {
      throw new RoomError("server_failed", `the factory failed: ${asError(cause).message}`, { cause });
    }
    return this.#unused;
  }

  async connect(server: ServableServer, link: ServedChannel): Promise<void> {
    this.#unused = undefined;
    try {
      await server.connect(link);
    } catch (cause) {
      const advice =
        typeof this.#given === "function" ? "" : " (an instance in use elsewhere? give a factory)";
      throw new RoomError("server_failed", `the server failed: ${asError(cause).message}${advice}`, {
        cause,
      });
    }
  }

  /** The server's connection has ended. An instance that was given is not closed: it can be connected again. */
  async done(server: ServableServer): Promise<void> {
    if (typeof this.#given !== "function" || server === this.#unused) return;
    try {
      await server.close();
    } catch {
      // It has nothing of ours any more: what it fails to give up is its own.
    }
  }

  /** Nothing more is served. */
  async close(): Promise<void> {
    const server = this.#unused;
    this.#unused = undefined;
    if (server !== undefined) await this.done(server);
  }
}

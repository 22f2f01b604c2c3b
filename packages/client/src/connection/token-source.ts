// Where tokens come from: one that was given, or a provider that is asked again when the old one is no good.
import { asError, RoomError } from "../core/room-error.ts";

export type TokenProvider = () => string | Promise<string>;

export class TokenSource {
  readonly #provider: TokenProvider | undefined;
  #token: string | undefined;
  /** One question at a time: who could not wait finds the answer when coming back. */
  #asking: Promise<string> | undefined;

  constructor(given: { token?: string | undefined; tokenProvider?: TokenProvider | undefined }) {
    this.#token = given.token;
    this.#provider = given.tokenProvider;
    if (this.#token === undefined && this.#provider === undefined) {
      throw new RoomError("bad_option", "give a token or a tokenProvider");
    }
  }

  /** Whether another token can be had. */
  get isRenewable(): boolean {
    return this.#provider !== undefined;
  }

  async current(): Promise<string> {
    return this.#token ?? this.renew();
  }

  renew(): Promise<string> {
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #ask(): Promise<string> {
    if (this.#provider === undefined)
      throw new RoomError(
        "unauthorised",
        "the token was refused, and there is no tokenProvider to get another",
      );
    try {
      this.#token = await this.#provider();
    } catch (cause) {
      throw new RoomError("network", `the token provider failed: ${asError(cause).message}`, { cause });
    }
    return this.#token;
  }
}

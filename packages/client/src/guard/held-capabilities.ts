// The capabilities a participant holds in one room, by whose tools they are for. Bounded; what is over is forgotten.
import { type CapabilityToken, coversTool, readCapabilityToken } from "@mcpx/protocol";
import type { RoomCore } from "../core/room-core.ts";

const heldMax = 1_024;

export class HeldCapabilities {
  /** The newest last. */
  readonly #held = new Map<string, { owner: string; token: CapabilityToken }>();
  /** Requests on their way, so that many calls at one time ask once. */
  readonly asking = new Map<string, Promise<CapabilityToken>>();

  add(owner: string, text: string): CapabilityToken {
    const token = readCapabilityToken(text);
    this.#held.delete(text);
    const [oldest] = this.#held.keys();
    if (this.#held.size >= heldMax && oldest !== undefined) this.#held.delete(oldest);
    this.#held.set(text, { owner, token });
    return token;
  }

  drop({ text }: CapabilityToken): void {
    this.#held.delete(text);
  }

  /** The newest that fits, by its own words. */
  find(owner: string, tool: string, connectionId: string, nowMs: number): CapabilityToken | undefined {
    let found: CapabilityToken | undefined;
    for (const { owner: whose, token } of this.#held.values()) {
      const { exp, nbf, tools, channel = connectionId } = token.claims;
      if (exp * 1_000 <= nowMs) this.drop(token);
      else if (
        whose === owner &&
        coversTool(tools, tool) &&
        channel === connectionId &&
        nbf * 1_000 <= nowMs
      ) {
        found = token;
      }
    }
    return found;
  }
}

/** Beside the room and not in it: a client without guards does not load them. */
const byRoom = new WeakMap<RoomCore, HeldCapabilities>();

export function heldIn(core: RoomCore): HeldCapabilities {
  const held = byRoom.get(core) ?? new HeldCapabilities();
  byRoom.set(core, held);
  return held;
}

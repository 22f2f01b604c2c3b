// The keys a verifier trusts, by participant: given to it, or pinned when they were first seen. Nothing in it comes
// from a gateway.
import { type Ed25519Jwk, isId, isObject, isSameKey, type JsonObject, readEd25519Jwk } from "@mcpx/protocol";
import { RoomError } from "../core/room-error.ts";

export interface KeyBook {
  /** Empty where no key is known. */
  keysOf(participant: string): readonly Ed25519Jwk[];
  /** Whether the key of the first signature seen of a participant is pinned. */
  readonly pinsFirstUse: boolean;
  pin(participant: string, key: Ed25519Jwk): Promise<void>;
}

export interface KeyBookOptions {
  pinsFirstUse?: boolean;
  /** Called with the whole book, in the form `createKeyBook` takes, before a pin counts. */
  save?: (book: JsonObject) => Promise<void> | void;
}

/** Enough for every participant of a gateway; a stranger's names must not fill a disk. */
const participantsMax = 10_000;

/**
 * A key book from public Ed25519 JWKs: one for each participant, or a list.
 * @example const book = createKeyBook({ alice: { kty: "OKP", crv: "Ed25519", x: "…" } });
 */
export function createKeyBook(
  book: JsonObject = {},
  { pinsFirstUse = false, save }: KeyBookOptions = {},
): KeyBook {
  const keys = new Map(Object.entries(book).map(([id, listed]) => [id, readKeys(id, listed)]));
  return {
    pinsFirstUse,
    keysOf: (participant) => keys.get(participant) ?? [],
    async pin(participant, key) {
      const known = keys.get(participant) ?? [];
      if (known.some((one) => isSameKey(one, key))) return;
      if (known.length === 0 && keys.size >= participantsMax) {
        throw new RoomError("bad_option", `the key book is full: it holds ${participantsMax} participants`);
      }
      const next = new Map(keys).set(participant, [...known, key]);
      await save?.(Object.fromEntries(next));
      keys.set(participant, [...known, key]);
    },
  };
}

function readKeys(id: string, listed: unknown): Ed25519Jwk[] {
  const keys = (Array.isArray(listed) ? listed : [listed]).map(readEd25519Jwk);
  if (!isId(id)) throw new RoomError("bad_option", "a name in the key book is not a participant id");
  if (keys.length === 0 || !keys.every((key) => key !== undefined)) {
    throw new RoomError("bad_option", `the key book has no public Ed25519 JWK, or list of them, for ${id}`);
  }
  return keys;
}

/** Reads the text of a key book, as a file holds it. */
export function parseKeyBook(text: string, options?: KeyBookOptions): KeyBook {
  let book: unknown;
  try {
    book = JSON.parse(text);
  } catch (cause) {
    throw new RoomError("bad_option", "the key book is not JSON", { cause });
  }
  if (!isObject(book)) throw new RoomError("bad_option", "the key book is not a JSON object");
  return createKeyBook(book, options);
}

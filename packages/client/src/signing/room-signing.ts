// Signs what a room publishes and verifies what it hears. Loaded only by rooms joined with `sign` or `verify`.
import {
  type AccessKey,
  isObject,
  type JsonObject,
  policyType,
  revocationType,
  type SignatureVerdict,
  signEnvelope,
  skippedMax,
  splitList,
  withFields,
} from "@mcpx/protocol";
import { newId } from "../core/new-id.ts";
import type { RoomEnvelope } from "../core/room-envelope.ts";
import { RoomError } from "../core/room-error.ts";
import type { KeyBook } from "./key-book.ts";
import { verifyText } from "./verify-text.ts";

/** The text of an envelope as it came or went. Copies of the envelope have it too; `JSON.stringify` does not see it. */
const wireText = Symbol("wire text");

type Kept = RoomEnvelope & { [wireText]?: string };

/** An envelope ready to be sent. */
export interface Sealed {
  text: string;
  /** Its number in the session, where it is signed. */
  n?: number;
  skipped?: readonly number[];
}

interface SigningOptions {
  topic: string;
  sign?: AccessKey | undefined;
  verify?: KeyBook | undefined;
}

export class RoomSigning {
  readonly #topic: string;
  readonly #key: AccessKey | undefined;
  readonly #book: KeyBook | undefined;
  readonly #session = newId();
  #n = 0;
  #digest: string | undefined;
  readonly #skipped: number[] = [];

  constructor({ topic, sign, verify }: SigningOptions) {
    this.#topic = topic;
    this.#key = sign;
    this.#book = verify;
  }

  /** One at a time: each signature names the one before. */
  async seal(envelope: RoomEnvelope): Promise<Sealed> {
    const { payload, ...head } = envelope;
    const payloadText = JSON.stringify(payload);
    const text = withFields(JSON.stringify(head), [`"payload":${payloadText}`]);
    const sealed = isPublished(envelope) ? await this.#sign(envelope, text, payloadText) : { text };
    keep(envelope, sealed.text);
    return sealed;
  }

  async #sign(envelope: RoomEnvelope, text: string, payloadText: string): Promise<Sealed> {
    if (this.#key === undefined) return { text };
    const n = this.#n + 1;
    // Taken before signing: others may be discarded meanwhile.
    const skipped = this.#skipped.splice(0, skippedMax);
    const link = {
      session: this.#session,
      n,
      ...(this.#digest === undefined ? {} : { prev: this.#digest }),
      ...(skipped.length === 0 ? {} : { skipped }),
    };
    const fields = { to: [], ...envelope, topic: this.#topic, payloadText };
    const { signature, digest } = await signEnvelope(this.#key, fields, link);
    this.#n = n;
    this.#digest = digest;
    return { text: withFields(text, [`"signature":${JSON.stringify(signature)}`]), n, skipped };
  }

  /** It was sealed and will not be published: later envelopes say so, or it would count as suppressed. */
  discard({ n, skipped = [] }: Sealed): void {
    if (n === undefined) return;
    this.#skipped.push(...skipped, n);
    this.#skipped.sort((a, b) => a - b);
  }

  /** Keeps a frame's text, and those of the envelopes in a welcome. */
  keepFrame(envelope: RoomEnvelope, text: string): void {
    if (this.#book === undefined) return;
    keep(envelope, text);
    const { history } = envelope.payload;
    if (isObject(history)) this.keepList(history.envelopes, text, ["payload", "history", "envelopes"]);
  }

  /** Keeps the texts of a list of envelopes that stands in a text at this path. */
  keepList(list: unknown, text: string, path: readonly string[]): void {
    if (this.#book === undefined || !Array.isArray(list)) return;
    const texts = splitList(text, path);
    list.forEach((envelope, at) => {
      if (isObject(envelope)) keep(envelope as JsonObject & RoomEnvelope, texts[at]);
    });
  }

  async verify(envelope: RoomEnvelope): Promise<SignatureVerdict> {
    const text = (envelope as Kept)[wireText];
    if (this.#book === undefined || text === undefined) {
      const missing =
        this.#book === undefined ? "a room joined without a key book" : "an envelope made elsewhere";
      throw new RoomError("bad_option", `cannot verify ${missing}`);
    }
    return verifyText(text, this.#topic, this.#book);
  }
}

function keep(envelope: Kept, text: string | undefined): void {
  if (text !== undefined) envelope[wireText] = text;
}

/** What is for the gateway alone reaches nobody who could verify it. */
function isPublished({ kind, payload }: RoomEnvelope): boolean {
  return kind !== "system" || payload.type === policyType || payload.type === revocationType;
}

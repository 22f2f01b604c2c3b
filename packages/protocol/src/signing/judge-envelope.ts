// What can be said of one envelope's signature, from its text, the room's name and the keys its reader trusts.
import { type Ed25519Jwk, isSameKey, readEd25519Jwk } from "../access/access-key.ts";
import { v0ChatMethod } from "../envelope/chat.ts";
import { isProtocol } from "../envelope/envelope.ts";
import { isObject, type JsonObject } from "../json/json-rpc.ts";
import { type Scanned, scan } from "../json/scan.ts";
import { isId } from "../names.ts";
import { isTimestamp } from "../time.ts";
import {
  type ChainLink,
  checkSignature,
  readSignature,
  type SignedFields,
  signatureCharsMax,
} from "./envelope-signature.ts";

export const signatureStates = [
  "valid", "unpinned", "key_changed", "invalid", "stripped", "unsigned", "derived",
] as const; // biome-ignore format: one line reads best

export type SignatureState = (typeof signatureStates)[number];

export interface SignatureVerdict {
  readonly state: SignatureState;
  /** A sentence for people. */
  readonly detail: string;
  /** As the envelope says; empty where it cannot be read. */
  readonly id: string;
  readonly from: string;
  readonly seq?: number;
  /** The key that made the signature, where the signature is right. */
  readonly key?: Ed25519Jwk;
  /** Where the signature is right: its place in its session, and the digest of its statement. */
  readonly link?: ChainLink & { readonly digest: string };
}

export interface JudgeOptions {
  readonly topic: string;
  /** The keys the reader trusts for a participant; empty where there are none. */
  keysOf(participant: string): readonly Ed25519Jwk[];
}

/** Deeper than any gateway of ours lets through. */
const depthMax = 1_000;
const gatewayId = "system:gateway";

/** Never throws for what is in the text. */
export async function judgeEnvelope(text: string, options: JudgeOptions): Promise<SignatureVerdict> {
  let scanned: Scanned;
  try {
    scanned = scan(text, { depthMax });
  } catch {
    return { state: "invalid", detail: "the envelope cannot be read", id: "", from: "" };
  }
  const { id, from, seq } = scanned.value;
  const subject = {
    id: isId(id) ? id : "",
    from: isId(from) ? from : "",
    ...(Number.isSafeInteger(seq) ? { seq: Number(seq) } : {}),
  };
  return { ...subject, ...(await findingOf(scanned, subject.from, options)) };
}

type Finding = Pick<SignatureVerdict, "state" | "detail" | "key" | "link">;

async function findingOf(scanned: Scanned, from: string, options: JudgeOptions): Promise<Finding> {
  const { value, fields } = scanned;
  const span = fields.get("signature");
  const trusted = options.keysOf(from);
  if (from === gatewayId) return judgeNotice(value, options);
  if (span === undefined) {
    if (trusted.length === 0) return { state: "unsigned", detail: "not signed" };
    return { state: "stripped", detail: `not signed, although a key of ${from} is pinned` };
  }
  if (isDerivedChat(value)) {
    return {
      state: "derived",
      detail: "rendered for another protocol version; the history has the original",
    };
  }
  if (value.derived !== undefined) return invalid("only chat can be derived");
  if (span.end - span.start > signatureCharsMax) {
    return invalid(`signature is longer than ${signatureCharsMax} characters`);
  }
  const signature = readSignature(value.signature);
  if (typeof signature === "string") return invalid(signature);
  const signed = signedFields(scanned, options.topic);
  if (typeof signed === "string") return invalid(signed);
  const digest = await checkSignature(signature, signed).catch(() => undefined);
  if (digest === undefined) {
    return invalid("the signature is not of this envelope in this room");
  }
  const { key } = signature;
  return { ...trustIn(key, from, trusted), key, link: { ...signature.link, digest } };
}

function trustIn(key: Ed25519Jwk, from: string, trusted: readonly Ed25519Jwk[]): Finding {
  if (trusted.some((one) => isSameKey(one, key))) {
    return { state: "valid", detail: `signed by a pinned key of ${from}` };
  }
  if (trusted.length > 0) {
    return { state: "key_changed", detail: `signed by another key than the pinned key of ${from}` };
  }
  return { state: "unpinned", detail: `signed, but no key of ${from} is pinned` };
}

/** The gateway signs nothing; in presence it may list another key than the pinned one. */
function judgeNotice({ kind, payload }: JsonObject, { keysOf }: JudgeOptions): Finding {
  const participant = kind === "presence" && isObject(payload) ? payload.participant : undefined;
  if (isObject(participant) && isId(participant.id) && participant.key !== undefined) {
    const listed = readEd25519Jwk(participant.key);
    const trusted = keysOf(participant.id);
    if (trusted.length > 0 && !trusted.some((one) => isSameKey(one, listed))) {
      const detail = `the gateway lists another key than the pinned key of ${participant.id}`;
      return { state: "key_changed", detail };
    }
  }
  return { state: "unsigned", detail: "the gateway's own notice" };
}

/** The one thing that is rendered anew. spec/PROTOCOL.md, section 8. */
function isDerivedChat({ protocol, kind, payload, derived }: JsonObject): boolean {
  if (!isProtocol(derived) || derived === protocol) return false;
  if (protocol === "mcpx/v0.1") return kind === "chat";
  return kind === "mcp" && isObject(payload) && payload.method === v0ChatMethod;
}

/** Or in words why nobody can have signed this envelope. */
function signedFields({ text, value, fields }: Scanned, topic: string): SignedFields | string {
  const { protocol, id, ts, from, kind, to = [], correlation_id, correlationId } = value;
  const payload = fields.get("payload");
  if (!isProtocol(protocol) || !isId(id) || !isId(from) || typeof kind !== "string") {
    return "a field of the envelope is missing or malformed";
  }
  if (!isTimestamp(ts)) return "a signed envelope has its own ts";
  if (payload === undefined || !isObject(value.payload)) return "the payload is not an object";
  if (!Array.isArray(to) || !to.every((one) => isId(one))) return "to is not a list of ids";
  const refersTo = correlation_id ?? correlationId;
  if (refersTo !== undefined && !isId(refersTo)) return "correlation_id is not an id";
  if (correlationId !== undefined && correlationId !== refersTo)
    return "correlation_id differs from correlationId";
  const payloadText = text.slice(payload.start, payload.end);
  return { topic, protocol, id, ts, from, to, kind, correlation_id: refersTo, payloadText };
}

function invalid(detail: string): Finding {
  return { state: "invalid", detail };
}

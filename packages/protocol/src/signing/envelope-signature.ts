// The field `signature` of an envelope, and the statement it signs. The statement is made anew from what the verifier
// sees and knows, so nothing in the field is read and believed. spec/PROTOCOL.md, section 15. [X0-9-7]
import { type AccessKey, type Ed25519Jwk, readEd25519Jwk } from "../access/access-key.ts";
import { isDetachedBy, signDetached } from "../access/compact-jws.ts";
import { canonicalJson, sha256 } from "../json/canonical-json.ts";
import { isObject, type JsonObject } from "../json/json-rpc.ts";

const envelopeSignatureType = "mcpx-envelope+jws";
export const signatureCharsMax = 2_048;
export const skippedMax = 64;

/** The place of a signed envelope among those its sender signed in one session. */
export interface ChainLink {
  readonly session: string;
  /** 1, 2, 3 … in the order of signing. */
  readonly n: number;
  /** The digest of the statement before; `undefined` for the first. */
  readonly prev?: string;
  /** Numbers that were signed and refused by the gateway. */
  readonly skipped?: readonly number[];
}

export interface EnvelopeSignature {
  readonly key: Ed25519Jwk;
  readonly link: ChainLink;
  readonly jws: string;
}

/** What is signed, apart from the key and the link. */
export interface SignedFields {
  readonly topic: string;
  readonly protocol: string;
  readonly id: string;
  readonly ts: string;
  readonly from: string;
  readonly to: readonly string[];
  readonly kind: string;
  readonly correlation_id?: string | undefined;
  /** The payload's text, exactly as sent. */
  readonly payloadText: string;
}

const sessionShape = /^[A-Za-z0-9_-]{16,64}$/;
const digestShape = /^[A-Za-z0-9_-]{43}$/;
const jwsCharsMax = 256;
const members = new Set(["key", "session", "n", "prev", "skipped", "jws"]);

/** The field's value, and the digest that the next envelope of the session gives as `prev`. */
export async function signEnvelope(
  key: AccessKey,
  fields: SignedFields,
  link: ChainLink,
): Promise<{ signature: JsonObject; digest: string }> {
  const statement = await statementOf(fields, key.jwk.x, link);
  const jws = await signDetached(key, envelopeSignatureType, statement);
  return { signature: { key: key.jwk.x, ...link, jws }, digest: await sha256(statement) };
}

/** The digest of the statement; `undefined` where the key in the field has not signed it. */
export async function checkSignature(
  { key, link, jws }: EnvelopeSignature,
  fields: SignedFields,
): Promise<string | undefined> {
  const statement = await statementOf(fields, key.x, link);
  return (await isDetachedBy(key, envelopeSignatureType, statement, jws)) ? sha256(statement) : undefined;
}

async function statementOf(fields: SignedFields, key: string, link: ChainLink): Promise<string> {
  const { topic, protocol, id, ts, from, to, kind, correlation_id, payloadText } = fields;
  return canonicalJson({
    ...{ topic, protocol, id, ts, from, to, kind },
    ...(correlation_id === undefined ? {} : { correlation_id }),
    ...link,
    key,
    payload: await sha256(payloadText),
  });
}

/** The field's parts, or in words what is wrong with it. */
export function readSignature(value: unknown): EnvelopeSignature | string {
  if (!isObject(value)) return "signature is not an object";
  const unknown = Object.keys(value).find((name) => !members.has(name));
  if (unknown !== undefined) return "signature has a member that is not known";
  const { key: x, session, n, prev, skipped, jws } = value;
  const key = readEd25519Jwk({ kty: "OKP", crv: "Ed25519", x });
  if (key === undefined) return "signature.key is not an Ed25519 public key";
  if (typeof session !== "string" || !sessionShape.test(session)) {
    return "signature.session is not 16 to 64 characters of base64url";
  }
  if (!isNumber(n)) return "signature.n is not a whole number from 1";
  if (n === 1 ? prev !== undefined : typeof prev !== "string" || !digestShape.test(prev)) {
    return "signature.prev is not the digest of the statement before";
  }
  if (skipped !== undefined && !isSkipped(skipped, n)) {
    return `signature.skipped is not 1 to ${skippedMax} ascending numbers below n`;
  }
  if (typeof jws !== "string" || jws.length > jwsCharsMax) {
    return "signature.jws is not a JWS without its payload";
  }
  const link = {
    session,
    n,
    ...(prev === undefined ? {} : { prev: prev as string }),
    ...(skipped === undefined ? {} : { skipped }),
  };
  return { key, link, jws };
}

function isNumber(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 1;
}

function isSkipped(value: unknown, n: number): value is number[] {
  return (
    Array.isArray(value) &&
    value.length >= 1 &&
    value.length <= skippedMax &&
    value.every((one, at) => isNumber(one) && one < n && (at === 0 || one > value[at - 1]))
  );
}

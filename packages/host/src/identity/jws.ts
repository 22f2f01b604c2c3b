// Signed texts of any type: reading them as they claim to be, and proving who signed them. Ours are signed with the
// gateway's keys, others' with the keys of their issuer; a text never names its own.
import { isMcpxError, isObject, type JsonObject, McpxError } from "@mcpx/protocol";
import { type CompactVerifyGetKey, compactVerify } from "jose";
import { badToken } from "./claims.ts";
import { fewAtOnce } from "./few-at-once.ts";
import type { TrustedIssuer } from "./issuers.ts";
import type { SigningKeys } from "./signing-keys.ts";

/** The keys whose signatures are accepted. */
export interface Signers {
  gatewayId: string;
  keys: Pick<SigningKeys, "find">;
  issuers: ReadonlyMap<string, TrustedIssuer>;
}

interface Proven {
  payload: JsonObject;
  /** Absent: this gateway signed it. */
  issuer: TrustedIssuer | undefined;
}

const jwsCharsMax = 8_192;
/** Checking a signature takes a thread of the pool, and with it time of the event loop. */
const ownLine = fewAtOnce(2);
/** Header members by which a token would name its own key or rules. */
const headersRefused = ["jwk", "jku", "x5u", "crit", "b64"];

/**
 * The payload, once type and signature are proven; `asker` has a line of its own for that. Throws `unauthorised` or
 * `identity_unavailable`.
 */
export async function proveJws(
  jws: string,
  signers: Signers,
  typeFor: (issuer: TrustedIssuer | undefined) => string,
  asker?: string,
): Promise<Proven> {
  checkLength(jws);
  const { header, payload: unproven } = decode(jws);
  const refused = headersRefused.find((name) => Object.hasOwn(header, name));
  if (refused !== undefined) throw badToken(`the token's header may not have ${refused}`);
  const issuer = typeof unproven.iss === "string" ? signers.issuers.get(unproven.iss) : undefined;
  const isOwn = unproven.iss === signers.gatewayId;
  if (issuer === undefined && !isOwn) throw badToken("the token's issuer is not known here");
  if (header.typ !== typeFor(issuer)) throw badToken("the token is of another type");
  // An issuer whose keys cannot be had holds up its own tokens alone.
  const inLine = issuer?.inLine ?? ownLine;
  const payload = await inLine(
    () => provenPayload(jws, issuer?.getKey ?? ownKey(signers.keys), issuer?.algorithms ?? ["EdDSA"]),
    asker,
  );
  return { payload, issuer };
}

export function checkLength(jws: string): void {
  if (jws.length > jwsCharsMax) throw badToken("the token is too long");
}

export function readJti({ jti }: JsonObject): string | undefined {
  if (jti === undefined) return undefined;
  if (typeof jti !== "string" || jti === "" || jti.length > 128) throw badToken("jti must be a short string");
  return jti;
}

/** A store that fails is no reason to call the token bad, nor to call it good. */
export async function fromStore<T>(read: () => T | Promise<T>): Promise<T> {
  try {
    return await read();
  } catch (cause) {
    throw new McpxError("identity_unavailable", "the store of identities cannot be read", { cause });
  }
}

function ownKey(keys: Signers["keys"]): CompactVerifyGetKey {
  return async ({ kid }) => {
    const key = typeof kid === "string" ? await fromStore(() => keys.find(kid)) : undefined;
    if (key === undefined) throw badToken("the token's key is not known here");
    return key;
  };
}

/** The library's own texts stay inside. */
async function provenPayload(
  jws: string,
  getKey: CompactVerifyGetKey,
  algorithms: readonly string[],
): Promise<JsonObject> {
  try {
    const { payload } = await compactVerify(jws, getKey, { algorithms: [...algorithms] });
    return parseObject(payload);
  } catch (error) {
    if (isMcpxError(error)) throw error;
    throw new McpxError("unauthorised", "the token's signature is not valid", { cause: error });
  }
}

/** Header and payload as they claim to be; they only choose who is asked for the proof. */
function decode(jws: string): { header: JsonObject; payload: JsonObject } {
  const [header, payload, signature, ...rest] = jws.split(".");
  if (!header || !payload || !signature || rest.length > 0) throw badToken("not a compact JWS");
  // One token has one spelling, or the holder of one token would have many to show.
  if (Buffer.from(signature, "base64url").toString("base64url") !== signature) {
    throw badToken("the signature is not in canonical base64url");
  }
  return {
    header: parseObject(Buffer.from(header, "base64url")),
    payload: parseObject(Buffer.from(payload, "base64url")),
  };
}

function parseObject(bytes: Uint8Array): JsonObject {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw badToken("the token is not readable");
  }
  if (!isObject(value)) throw badToken("the token is not readable");
  return value;
}

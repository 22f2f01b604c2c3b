// Compact JWS (RFC 7515) with one algorithm and one `typ` for each use: what was signed as one thing is never taken
// for another. The header is compared whole, so it can say nothing that is not known.
import { isObject, type JsonObject } from "../json/json-rpc.ts";
import { type AccessKey, type Ed25519Jwk, hasSigned } from "./access-key.ts";
import { fromBase64url, toBase64url } from "./base64url.ts";

export interface CompactJws {
  readonly payload: JsonObject;
  readonly signature: string;
  isSignedBy(key: Ed25519Jwk): Promise<boolean>;
}

const utf8 = new TextEncoder();

export async function signCompact(key: AccessKey, typ: string, payloadText: string): Promise<string> {
  const signed = `${headerOf(typ)}.${toBase64url(utf8.encode(payloadText))}`;
  return `${signed}.${toBase64url(await key.sign(utf8.encode(signed)))}`;
}

/** Its parts; `undefined` where it is no JWS of this type. The signature is not checked here. */
export function readCompact(text: string, typ: string): CompactJws | undefined {
  const [header, body = "", signature = "", ...more] = text.split(".");
  const bytes = fromBase64url(signature);
  const payload = jsonOf(fromBase64url(body));
  if (header === undefined || !isHeader(header, typ) || more.length > 0) return undefined;
  if (bytes === undefined || payload === undefined) return undefined;
  return {
    payload,
    signature,
    isSignedBy: (key) => hasSigned(key, bytes, utf8.encode(`${header}.${body}`)),
  };
}

/** Signs what both sides know and nobody has to send (RFC 7515, appendix F). */
export async function signDetached(key: AccessKey, typ: string, payloadText: string): Promise<string> {
  const [header, , signature] = (await signCompact(key, typ, payloadText)).split(".");
  return `${header}..${signature}`;
}

export async function isDetachedBy(
  key: Ed25519Jwk,
  typ: string,
  payloadText: string,
  text: string,
): Promise<boolean> {
  const [header, none, signature = "", ...more] = text.split(".");
  const bytes = fromBase64url(signature);
  if (header === undefined || !isHeader(header, typ) || none !== "" || more.length > 0) return false;
  if (bytes === undefined) return false;
  return hasSigned(key, bytes, utf8.encode(`${header}.${toBase64url(utf8.encode(payloadText))}`));
}

function headerOf(typ: string): string {
  return toBase64url(utf8.encode(JSON.stringify({ alg: "EdDSA", typ })));
}

/** Members in any order; none but these, so neither `crit`, `jwk`, `jku` nor another `alg`. */
function isHeader(text: string, typ: string): boolean {
  const header = jsonOf(fromBase64url(text));
  return header?.alg === "EdDSA" && header.typ === typ && Object.keys(header).length === 2;
}

function jsonOf(bytes: Uint8Array | undefined): JsonObject | undefined {
  if (bytes === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

// A decision about a gate, signed with an operator's key: the one place where terminals, browsers and programs make it.
// WebCrypto, since browsers sign too. [AX-11.3-2]
import { toBase64url } from "../access/base64url.ts";
import { canonicalJson } from "../json/canonical-json.ts";
import type { Statement } from "./gate.ts";
import type { JointStatement } from "./joint-statement.ts";

export interface StatementKey {
  alg: "EdDSA" | "ES256";
  /** The key's thumbprint (RFC 7638). */
  kid: string;
  privateKey: Parameters<typeof crypto.subtle.sign>[1];
}

/** A key that is elsewhere: in an agent, or on a device. */
export interface RemoteStatementKey extends Pick<StatementKey, "kid"> {
  /** The last is a FIDO2 key, whose signature is followed by its flags and its count. */
  alg: StatementKey["alg"] | "sk-ssh-ed25519@openssh.com";
  sign(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array>;
}

const algorithms = {
  EdDSA: { name: "Ed25519" },
  ES256: { name: "ECDSA", hash: "SHA-256" },
} as const;

const utf8 = new TextEncoder();

/** A compact JWS of type `mcpx-proof+jwt`, whose payload is the statement's canonical text. */
export function signStatement(
  statement: Statement | JointStatement,
  key: StatementKey | RemoteStatementKey,
): Promise<string> {
  return signText(canonicalJson(statement), "mcpx-proof+jwt", key);
}

/** A compact JWS of this type and payload. */
export async function signText(
  payload: string,
  typ: string,
  key: StatementKey | RemoteStatementKey,
): Promise<string> {
  const { alg, kid } = key;
  const header = JSON.stringify({ alg, typ, kid });
  const signed = `${toBase64url(utf8.encode(header))}.${toBase64url(utf8.encode(payload))}`;
  return `${signed}.${toBase64url(await signBytes(utf8.encode(signed), key))}`;
}

async function signBytes(
  bytes: Uint8Array<ArrayBuffer>,
  key: StatementKey | RemoteStatementKey,
): Promise<Uint8Array> {
  if ("sign" in key) return key.sign(bytes);
  return new Uint8Array(await crypto.subtle.sign(algorithms[key.alg], key.privateKey, bytes));
}

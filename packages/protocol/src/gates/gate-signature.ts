// A decision about a gate, signed with an operator's key: the one place where terminals, browsers and programs make it.
// WebCrypto, since browsers sign too. [AX-11.3-2]
import { toBase64url } from "../access/base64url.ts";
import { canonicalJson } from "../canonical-json.ts";
import type { Statement } from "./gate.ts";
import type { JointStatement } from "./joint-statement.ts";

export interface StatementKey {
  alg: "EdDSA" | "ES256";
  /** The key's thumbprint (RFC 7638). */
  kid: string;
  privateKey: Parameters<typeof crypto.subtle.sign>[1];
}

const algorithms = {
  EdDSA: { name: "Ed25519" },
  ES256: { name: "ECDSA", hash: "SHA-256" },
} as const;

const utf8 = new TextEncoder();

/** A key that is elsewhere: in an agent, or on a device. */
export interface RemoteStatementKey extends Pick<StatementKey, "alg" | "kid"> {
  sign(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array>;
}

/** A compact JWS of type `mcpx-proof+jwt`, whose payload is the statement's canonical text. */
export async function signStatement(
  statement: Statement | JointStatement,
  key: StatementKey,
): Promise<string> {
  const { privateKey, ...named } = key;
  const sign = async (bytes: Uint8Array<ArrayBuffer>) =>
    new Uint8Array(await crypto.subtle.sign(algorithms[key.alg], privateKey, bytes));
  return signStatementWith(statement, { ...named, sign });
}

/** The same by a key that is elsewhere. */
export async function signStatementWith(
  statement: Statement | JointStatement,
  { alg, kid, sign }: RemoteStatementKey,
): Promise<string> {
  const header = JSON.stringify({ alg, typ: "mcpx-proof+jwt", kid });
  const signed = `${toBase64url(utf8.encode(header))}.${toBase64url(utf8.encode(canonicalJson(statement)))}`;
  return `${signed}.${toBase64url(await sign(utf8.encode(signed)))}`;
}

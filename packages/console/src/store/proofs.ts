// Signatures under decisions about gates, made in this browser: with a passkey, or with a key that cannot leave it.
import { challengeOf, type Decision, type Statement, statementOf, statementText } from "@mcpx/protocol";
import type { Api } from "./api.ts";
import { base64Url } from "./base64-url.ts";
import type { GateView } from "./gates.ts";
import { askPasskey } from "./passkeys.ts";

/** An EC key of this browser: its private part cannot be read by anybody. */
export interface BrowserKey {
  name: string;
  jwk: JsonWebKey;
  thumbprint: string;
  privateKey: CryptoKey;
}

const curve = { name: "ECDSA", namedCurve: "P-256" } as const;

export async function makeKey(name: string): Promise<BrowserKey> {
  const { privateKey, publicKey } = await crypto.subtle.generateKey(curve, false, ["sign", "verify"]);
  const { kty, crv, x, y } = await crypto.subtle.exportKey("jwk", publicKey);
  const jwk = { kty, crv, x, y } as JsonWebKey;
  return { name, jwk, thumbprint: await thumbprintOf(jwk), privateKey };
}

/** RFC 7638. */
async function thumbprintOf({ crv, kty, x, y }: JsonWebKey): Promise<string> {
  const text = JSON.stringify({ crv, kty, x, y });
  return base64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));
}

/** A proof as an operator makes it (JWS, `mcpx-proof+jwt`). */
async function signProof(statement: Statement, key: BrowserKey): Promise<string> {
  const header = { alg: "ES256", typ: "mcpx-proof+jwt", kid: key.thumbprint };
  const signed = `${base64Text(JSON.stringify(header))}.${base64Text(statementText(statement))}`;
  const bytes = new TextEncoder().encode(signed);
  const signature = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, key.privateKey, bytes);
  return `${signed}.${base64Url(new Uint8Array(signature))}`;
}

export async function decideWithKey(
  api: Api,
  { id, terms }: GateView,
  key: BrowserKey,
  decision: Decision,
  reason: string | undefined,
): Promise<void> {
  const proof = await signProof(statementOf(terms, decision, reason), key);
  await api.call("POST", `/admin/gates/${encodeURIComponent(id)}/decision`, { proof });
}

/** As on the page `/approve/{id}`; that the challenge is of what was shown is looked at here. */
export async function decideWithPasskey(
  api: Api,
  { id, terms }: GateView,
  credentials: CredentialsContainer,
  decision: Decision,
  reason: string | undefined,
): Promise<void> {
  const wish = { decision, ...(reason !== undefined && { reason }) };
  const path = `/approve/${encodeURIComponent(id)}/passkey`;
  const options = await api.post(`${path}/options`, wish);
  const { challenge } = options;
  if (challenge !== (await challengeOf(statementOf(terms, decision, reason)))) {
    throw new Error("The gateway wants another call signed than it shows. Nothing was signed.");
  }
  const credential = await askPasskey(credentials, options);
  await api.post(`${path}/decision`, { ...wish, credential });
}

function base64Text(text: string): string {
  return base64Url(new TextEncoder().encode(text));
}

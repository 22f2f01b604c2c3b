// Signatures under decisions about gates, made in this browser: with a passkey, or with a key that cannot leave it.
import {
  challengeOf,
  type Decision,
  type GateTerms,
  signStatement,
  statementOf,
  toBase64url,
} from "@mcpx/protocol";
import type { Api } from "./api.ts";
import type { GateView } from "./gates.ts";
import { askPasskey } from "./passkeys.ts";
import { checkChainAt } from "./seen-chain.ts";

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
  return toBase64url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));
}

/** What was signed, on its way when it is called. */
export type Signed = () => Promise<void>;

export async function signWithKey(
  api: Api,
  { id, terms }: GateView,
  { thumbprint: kid, privateKey }: BrowserKey,
  decision: Decision,
  reason: string | undefined,
): Promise<Signed> {
  await checkChainAt(api, id);
  const statement = statementOf(terms, decision, reason);
  const proof = await signStatement(statement, { alg: "ES256", kid, privateKey });
  return async () => {
    await api.call("POST", `/admin/gates/${encodeURIComponent(id)}/decision`, { proof });
  };
}

/** As on the page `/approve/{id}`; that the challenge is of what was shown is looked at here. */
export async function signWithPasskey(
  api: Api,
  terms: GateTerms,
  decision: Decision,
  reason: string | undefined,
): Promise<Signed> {
  await checkChainAt(api, terms.confirmation_id);
  const wish = { decision, ...(reason !== undefined && { reason }) };
  const path = `/approve/${encodeURIComponent(terms.confirmation_id)}/passkey`;
  const options = await api.post(`${path}/options`, wish);
  const { challenge } = options;
  if (challenge !== (await challengeOf(statementOf(terms, decision, reason)))) {
    throw new Error("The gateway wants another call signed than it shows. Nothing was signed.");
  }
  const credential = await askPasskey(options);
  return async () => {
    await api.post(`${path}/decision`, { ...wish, credential });
  };
}

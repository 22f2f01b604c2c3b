// Signing with the gateway's own key, and remembering what was signed.
import { randomUUID } from "node:crypto";
import { type JsonObject, McpxError } from "@mcpx/protocol";
import { CompactSign } from "jose";
import type { Clock } from "../clock.ts";
import type { SigningKeys } from "./signing-keys.ts";

export interface MintedToken {
  token: string;
  jti: string;
  /** Ms since 1970. */
  expiresAt: number;
}

export interface Signing {
  clock: Clock;
  gatewayId: string;
  keys: Pick<SigningKeys, "reserve">;
}

interface Issue {
  typ: string;
  /** What is signed beside `iss`, `aud`, the times and `jti`. */
  claims: JsonObject;
  audience: string | readonly string[];
  /** In seconds. */
  exp: number;
  /** What the list of issued tokens shows. */
  listed: { sub: string | undefined; claims: JsonObject };
  /** The id it names: it is this gateway's from then on, or `bad_field` where it is another issuer's. */
  ownId?: string | undefined;
}

const issuedKeptMs = 30 * 86_400_000;

export async function issueJws({ clock, gatewayId, keys }: Signing, issue: Issue): Promise<MintedToken> {
  const { typ, claims, audience, exp, listed, ownId } = issue;
  const now = clock.now();
  const iat = Math.floor(now / 1_000);
  const jti = randomUUID();
  const reserved = await keys.reserve({
    ...{ jti, ...listed, iat, exp },
    forgetBefore: Math.ceil((now - issuedKeptMs) / 1_000),
    owner: ownId === undefined ? undefined : { id: ownId, issuer: gatewayId },
  });
  if (reserved === undefined) throw new McpxError("bad_field", "sub belongs to another issuer's participant");
  const { kid, key } = reserved;
  const payload = { ...claims, iss: gatewayId, aud: audience, iat, exp, jti };
  const token = await new CompactSign(Buffer.from(JSON.stringify(payload)))
    .setProtectedHeader({ alg: "EdDSA", typ, kid })
    .sign(key);
  return { token, jti, expiresAt: exp * 1_000 };
}

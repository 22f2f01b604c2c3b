// Signing with the gateway's own key, and remembering what was signed.
import { randomUUID } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import type { JsonObject } from "@mcpx/protocol";
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
  db: DatabaseSync;
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
  /** Throws where it may not be signed after all; runs in the transaction that remembers it. */
  check?: () => void;
}

const issuedKeptMs = 30 * 86_400_000;

export async function issueJws({ db, clock, gatewayId, keys }: Signing, issue: Issue): Promise<MintedToken> {
  const { typ, claims, audience, exp, listed, check } = issue;
  const now = clock.now();
  const iat = Math.floor(now / 1_000);
  const jti = randomUUID();
  const { kid, key } = keys.reserve(exp, (kid) => {
    check?.();
    db.prepare("DELETE FROM issued_tokens WHERE exp * 1000 < ?").run(now - issuedKeptMs);
    db.prepare("INSERT INTO issued_tokens (jti, sub, claims, iat, exp, kid) VALUES (?, ?, ?, ?, ?, ?)").run(
      jti,
      listed.sub ?? null,
      JSON.stringify(listed.claims),
      iat,
      exp,
      kid,
    );
  });
  const payload = { ...claims, iss: gatewayId, aud: audience, iat, exp, jti };
  const token = await new CompactSign(Buffer.from(JSON.stringify(payload)))
    .setProtectedHeader({ alg: "EdDSA", typ, kid })
    .sign(key);
  return { token, jti, expiresAt: exp * 1_000 };
}

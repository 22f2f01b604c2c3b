// Whose signatures decide about gates, as configured. A proof may name one of their keys, never bring its own.
import { type PublicJwk, readPublicJwk, thumbprint } from "@mcpx/host";

interface KeySet {
  keys: readonly object[];
}

export type Anchor =
  /** An operator's key. */
  | { kind: "key"; name: string; jwk: object }
  /** An external policy engine, which signs the gate's nonce. */
  | { kind: "policy"; name: string; jwk?: object | undefined; jwks?: KeySet | undefined }
  /** A service that asks humans out of band. */
  | { kind: "service"; issuer: string; jwks: KeySet };

export type AnchorKind = Anchor["kind"];

export interface AnchorKey {
  kind: AnchorKind;
  /** The anchor's name, or its issuer. */
  name: string;
  /** As its owner names the key. */
  kid: string | undefined;
  thumbprint: string;
  jwk: PublicJwk;
  alg: "EdDSA" | "ES256";
}

/** The keys of all anchors. Throws plainly where one has none we can verify, or has something private. */
export function anchorKeys(anchors: readonly Anchor[]): readonly AnchorKey[] {
  return anchors.flatMap((anchor) => {
    const name = anchor.kind === "service" ? anchor.issuer : anchor.name;
    const keys = jwksOf(anchor).flatMap((jwk) => readKey(anchor.kind, name, jwk));
    if (keys.length === 0) throw new Error(`gates.anchors: ${name} has no public Ed25519 or P-256 key`);
    return keys;
  });
}

function jwksOf(anchor: Anchor): readonly object[] {
  if (anchor.kind === "key") return [anchor.jwk];
  const own = anchor.kind === "policy" && anchor.jwk !== undefined ? [anchor.jwk] : [];
  return [...own, ...(anchor.jwks?.keys ?? [])];
}

/** Key sets hold keys for other things too: those are left out. */
function readKey(kind: AnchorKind, name: string, given: object): AnchorKey[] {
  const { kid, use } = given as { kid?: unknown; use?: unknown };
  const jwk = readPublicJwk(given);
  if (jwk === undefined || (use !== undefined && use !== "sig")) return [];
  const alg = jwk.kty === "OKP" ? "EdDSA" : "ES256";
  const named = typeof kid === "string" ? kid : undefined;
  return [{ kind, name, kid: named, thumbprint: thumbprint(jwk), jwk, alg }];
}

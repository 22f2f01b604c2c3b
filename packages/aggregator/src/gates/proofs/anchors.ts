// Whose signatures decide about gates, as configured or enrolled. A proof may name one of their keys, never bring its
// own.
import { type PublicJwk, readPublicJwk, thumbprint } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";
import type { KeyKeeping } from "../store/approver-store.ts";
import { type Passkey, passkeyThumbprint, readPasskey } from "./passkey.ts";
import { isApplication, securityKeyAlgorithm } from "./security-key.ts";

interface KeySet {
  keys: readonly object[];
}

export type Anchor =
  /** An operator's key. */
  | {
      kind: "key";
      name: string;
      jwk: object;
      kept?: KeyKeeping | undefined;
      /** Of a FIDO2 key: what it was made for. */
      application?: string | undefined;
    }
  /** An external policy engine, which signs the gate's nonce. */
  | { kind: "policy"; name: string; jwk?: object | undefined; jwks?: KeySet | undefined }
  /** A service that asks humans out of band. */
  | { kind: "service"; issuer: string; jwks: KeySet }
  /** An approver who presses buttons at a bridge: `name` is theirs, and the bridge has the key. */
  | { kind: "bridge"; name: string; jwk: object }
  /** An operator's passkey; its members are read here. */
  | ({ kind: "passkey"; name: string; mayLogIn?: boolean } & {
      readonly [member in keyof Passkey]?: unknown;
    });

export type SigningKind = Exclude<Anchor["kind"], "passkey">;

/** Signs texts (JWS). */
export type SigningKey = SigningKeyFacts &
  (
    | { alg: "EdDSA" | "ES256" }
    /** On a FIDO2 key. */
    | { alg: typeof securityKeyAlgorithm; application: string }
  );

interface SigningKeyFacts {
  kind: SigningKind;
  /** The anchor's name, or its issuer. */
  name: string;
  /** The key id that the anchor's owner has given. */
  kid: string | undefined;
  thumbprint: string;
  jwk: PublicJwk;
  /** Absent where nobody knows. */
  kept?: KeyKeeping;
}

/** Signs challenges, in a browser. */
export interface PasskeyKey {
  kind: "passkey";
  name: string;
  thumbprint: string;
  passkey: Passkey;
  /** Whether its holder can log in at the console with this passkey. */
  mayLogIn: boolean;
  /** Takes its count, once it was used. Throws `bad_proof` where that does not go on: then there are two of it. */
  use(counter: number): Promise<void>;
}

export type AnchorKey = SigningKey | PasskeyKey;

/** Keeps what a passkey has counted. */
export type CounterKeeper = (name: string, counter: number) => Promise<void>;

/** The keys of all anchors. Throws plainly where one has none we can verify, or has something private. */
export function anchorKeys(anchors: readonly Anchor[], keepCounter?: CounterKeeper): readonly AnchorKey[] {
  return anchors.flatMap((anchor): AnchorKey[] => {
    if (anchor.kind === "passkey") return [passkeyOf(anchor, keepCounter)];
    const name = anchor.kind === "service" ? anchor.issuer : anchor.name;
    const kept = anchor.kind === "key" && anchor.kept !== undefined ? { kept: anchor.kept } : {};
    const application = anchor.kind === "key" ? anchor.application : undefined;
    const keys = jwksOf(anchor).flatMap((jwk) =>
      readKey(anchor.kind, name, jwk)
        .flatMap((key) => (application === undefined ? [key] : onSecurityKey(key, application)))
        .map((key) => ({ ...key, ...kept })),
    );
    if (keys.length === 0) throw new Error(`gates.anchors: ${name} has no public Ed25519 or P-256 key`);
    return keys;
  });
}

function passkeyOf(
  { kind, name, mayLogIn = false, ...members }: Extract<Anchor, { kind: "passkey" }>,
  keepCounter: CounterKeeper | undefined,
): PasskeyKey {
  const passkey = readPasskey(members);
  let last = passkey.counter;
  return {
    kind,
    name,
    thumbprint: passkeyThumbprint(passkey.publicKey),
    passkey,
    mayLogIn,
    async use(counter) {
      if (counter === 0 && last === 0) return;
      if (counter <= last)
        throw new McpxError(
          "bad_proof",
          "the passkey's counter did not go up: this assertion is old, or the passkey was copied",
        );
      last = counter;
      await keepCounter?.(name, counter);
    },
  };
}

function jwksOf(anchor: Exclude<Anchor, { kind: "passkey" }>): readonly object[] {
  if (anchor.kind === "key" || anchor.kind === "bridge") return [anchor.jwk];
  const own = anchor.kind === "policy" && anchor.jwk !== undefined ? [anchor.jwk] : [];
  return [...own, ...(anchor.jwks?.keys ?? [])];
}

function onSecurityKey(key: SigningKey, application: string): SigningKey[] {
  if (key.jwk.kty !== "OKP" || !isApplication(application)) return [];
  return [{ ...key, alg: securityKeyAlgorithm, application }];
}

/** Key sets hold keys for other things too: those are left out. */
function readKey(kind: SigningKind, name: string, given: object): SigningKey[] {
  const { kid, use } = given as { kid?: unknown; use?: unknown };
  const jwk = readPublicJwk(given);
  if (jwk === undefined || (use !== undefined && use !== "sig")) return [];
  const alg = jwk.kty === "OKP" ? "EdDSA" : "ES256";
  const named = typeof kid === "string" ? kid : undefined;
  return [{ kind, name, kid: named, thumbprint: thumbprint(jwk), jwk, alg }];
}

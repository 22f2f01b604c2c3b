// A proof as an operator makes it: the statement about one gate, signed with their own key.
import type { KeyObject } from "node:crypto";
import type { Statement } from "@mcpx/protocol";
import { SignJWT } from "jose";

/** `kid`: the key's thumbprint. */
export function signProof(statement: Statement, key: KeyObject, kid: string): Promise<string> {
  const alg = key.asymmetricKeyType === "ed25519" ? "EdDSA" : "ES256";
  return new SignJWT({ ...statement }).setProtectedHeader({ alg, typ: "mcpx-proof+jwt", kid }).sign(key);
}

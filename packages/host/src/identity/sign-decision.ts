// A decision about a gate, signed with a key as Node keeps it; what is signed is made in `@mcpx/protocol`.
import type { KeyObject } from "node:crypto";
import { type JointStatement, type Statement, signStatement } from "@mcpx/protocol";

/** `kid`: the key's thumbprint. */
export function signDecision(
  statement: Statement | JointStatement,
  key: KeyObject,
  kid: string,
): Promise<string> {
  if (key.asymmetricKeyType === "ed25519") {
    const privateKey = key.toCryptoKey({ name: "Ed25519" }, false, ["sign"]);
    return signStatement(statement, { alg: "EdDSA", kid, privateKey });
  }
  const privateKey = key.toCryptoKey({ name: "ECDSA", namedCurve: "P-256" }, false, ["sign"]);
  return signStatement(statement, { alg: "ES256", kid, privateKey });
}

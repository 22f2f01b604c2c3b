// A decision about a gate, signed with a key as Node keeps it; what is signed is made in `@mcpx/protocol`.
import type { KeyObject } from "node:crypto";
import { type JointStatement, type Statement, type StatementKey, signStatement } from "@mcpx/protocol";

/** `kid`: the key's thumbprint. */
export function signDecision(
  statement: Statement | JointStatement,
  key: KeyObject,
  kid: string,
): Promise<string> {
  return signStatement(statement, statementKey(key, kid));
}

export function statementKey(key: KeyObject, kid: string): StatementKey {
  if (key.asymmetricKeyType === "ed25519") {
    return { alg: "EdDSA", kid, privateKey: key.toCryptoKey({ name: "Ed25519" }, false, ["sign"]) };
  }
  const privateKey = key.toCryptoKey({ name: "ECDSA", namedCurve: "P-256" }, false, ["sign"]);
  return { alg: "ES256", kid, privateKey };
}

// A passkey in software, for tests: makes assertions as an authenticator would, also wrong ones.
import { createHash, generateKeyPairSync, sign } from "node:crypto";
import { challengeOf, type Decision, type GateTerms, statementOf } from "@mcpx/protocol";
import type { Passkey, PasskeyJwk } from "../proofs/passkey.ts";

export interface AssertionWish {
  decision?: Decision;
  reason?: string;
  challenge?: string;
  origin?: string;
  rpId?: string;
  type?: string;
  counter?: number;
  crossOrigin?: boolean;
  /** User present 1, verified 4. */
  flags?: number;
}

const pairs = {
  EC: () => generateKeyPairSync("ec", { namedCurve: "P-256" }),
  OKP: () => generateKeyPairSync("ed25519"),
  RSA: () => generateKeyPairSync("rsa", { modulusLength: 2_048 }),
};

export function softPasskey(kty: keyof typeof pairs = "EC") {
  const { publicKey, privateKey } = pairs[kty]();
  const passkey: Passkey = {
    credentialId: Buffer.from(`credential of ${kty}`).toString("base64url"),
    publicKey: publicKey.export({ format: "jwk" }) as PasskeyJwk,
    counter: 0,
    rpId: "localhost",
    origin: "http://localhost:7332",
    transports: ["internal"],
  };
  const prove = async (gate: GateTerms, wish: AssertionWish = {}): Promise<string> => {
    const { decision = "approve", reason, counter = 1, flags = 5 } = wish;
    const clientData = Buffer.from(
      JSON.stringify({
        type: wish.type ?? "webauthn.get",
        challenge: wish.challenge ?? (await challengeOf(statementOf(gate, decision, reason))),
        origin: wish.origin ?? passkey.origin,
        crossOrigin: wish.crossOrigin ?? false,
      }),
    );
    const rpIdHash = createHash("sha256")
      .update(wish.rpId ?? passkey.rpId)
      .digest();
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    const authenticatorData = Buffer.concat([rpIdHash, Buffer.from([flags]), count]);
    const signed = Buffer.concat([authenticatorData, createHash("sha256").update(clientData).digest()]);
    const signature = sign(kty === "OKP" ? null : "sha256", signed, privateKey);
    return JSON.stringify({
      type: "webauthn",
      decision,
      reason,
      credential_id: passkey.credentialId,
      client_data: clientData.toString("base64url"),
      authenticator_data: authenticatorData.toString("base64url"),
      signature: signature.toString("base64url"),
    });
  };
  return { passkey, prove };
}

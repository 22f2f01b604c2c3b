// A new passkey in software, for tests: registers with whatever id and key it likes, as nobody attests to anything.
import { createHash } from "node:crypto";
import { coseOf, type PasskeyJwk } from "../proofs/passkey.ts";

export interface RegistrationWish {
  credentialId: string;
  publicKey: PasskeyJwk;
  challenge: string;
  origin: string;
}

/** As browsers give it. */
export function softRegistration({ credentialId, publicKey, challenge, origin }: RegistrationWish): object {
  const id = Buffer.from(credentialId, "base64url");
  const rpIdHash = createHash("sha256").update(new URL(origin).hostname).digest();
  // Present, verified, with a credential; a count of none; no make.
  const head = Buffer.from([0x45, 0, 0, 0, 0, ...Buffer.alloc(16), 0, id.length]);
  const data = Buffer.concat([rpIdHash, head, id, Buffer.from(coseOf(publicKey))]);
  const attestation = Buffer.concat([
    Buffer.from([0xa3]),
    ...[word("fmt"), word("none"), word("attStmt"), Buffer.from([0xa0]), word("authData")],
    Buffer.from([0x58, data.length]),
    data,
  ]);
  const clientData = JSON.stringify({ type: "webauthn.create", challenge, origin, crossOrigin: false });
  return {
    id: credentialId,
    response: {
      clientDataJSON: Buffer.from(clientData).toString("base64url"),
      attestationObject: attestation.toString("base64url"),
      transports: [],
    },
  };
}

function word(text: string): Buffer {
  return Buffer.concat([Buffer.from([0x60 + text.length]), Buffer.from(text)]);
}

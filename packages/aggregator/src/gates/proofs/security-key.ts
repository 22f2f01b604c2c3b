// A FIDO2 key at a terminal, as OpenSSH uses one (PROTOCOL.u2f): it does not sign a text, but the name it was made for,
// whether somebody has touched it, its count, and the text's hash. Here these follow the signature, in one piece. [B-KEY-1]
import { createPublicKey, hash, verify } from "node:crypto";
import type { PublicJwk } from "@mcpx/host";
import { badProof } from "./bad-proof.ts";

/** As OpenSSH calls it; no algorithm of JWS has this name. */
export const securityKeyAlgorithm = "sk-ssh-ed25519@openssh.com";

const signatureBytes = 64;
/** One byte that says who was there, four that count. */
const detailBytes = 5;
const present = 0x01;
const applicationCharsMax = 255;

/** What OpenSSH makes keys for: no web page, nor a passkey's name, begins so. */
export function isApplication(value: unknown): value is string {
  return typeof value === "string" && value.length <= applicationCharsMax && /^ssh:[!-~]*$/.test(value);
}

/** Throws `bad_proof` where it is right but for the touch: then a program alone may have made it. */
export function isSignedBySecurityKey(
  text: string,
  signature: Buffer,
  { jwk, application }: { jwk: PublicJwk; application: string },
): boolean {
  if (signature.length !== signatureBytes + detailBytes) return false;
  const details = signature.subarray(signatureBytes);
  const signed = Buffer.concat([
    hash("sha256", application, "buffer"),
    details,
    hash("sha256", text, "buffer"),
  ]);
  const key = createPublicKey({ key: jwk, format: "jwk" });
  if (!verify(null, signed, key, signature.subarray(0, signatureBytes))) return false;
  if (((details[0] ?? 0) & present) === 0) throw badProof("nobody has touched the security key");
  return true;
}

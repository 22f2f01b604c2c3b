// That whoever asks for a link has the data directory, and not only a token: known to those who could make any token
// themselves, and good with this very token alone.
import { createHmac, hash, timingSafeEqual } from "node:crypto";
import type { Identity } from "@mcpx/host";

export function localProof(identity: Pick<Identity, "secret">, token: string): string {
  return createHmac("sha256", identity.secret("console-link")).update(token).digest("base64url");
}

export function isLocalProof(identity: Pick<Identity, "secret">, token: string, given: unknown): boolean {
  if (typeof given !== "string") return false;
  return timingSafeEqual(
    hash("sha256", given, "buffer"),
    hash("sha256", localProof(identity, token), "buffer"),
  );
}

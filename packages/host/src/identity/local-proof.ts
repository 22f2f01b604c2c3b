// That a request comes from the gateway's own machine, and not from a token alone: it is made with the data directory,
// by somebody who could make any token, and is good with this very token only.
import { createHmac, hash, timingSafeEqual } from "node:crypto";
import { bearerToken } from "../http/bearer.ts";
import type { HttpRequest } from "../http/request.ts";
import type { Identity } from "./identity.ts";

/** The header it travels in, beside the token. */
export const localHeader = "x-mcpx-local";

export function localProof(identity: Pick<Identity, "secret">, token: string): string {
  return createHmac("sha256", identity.secret("console-link")).update(token).digest("base64url");
}

/** Whether the request has it, for the token that it has. */
export function isLocalRequest(identity: Pick<Identity, "secret">, request: HttpRequest): boolean {
  const given = request.headers[localHeader];
  if (typeof given !== "string") return false;
  const expected = localProof(identity, bearerToken(request));
  return timingSafeEqual(hash("sha256", given, "buffer"), hash("sha256", expected, "buffer"));
}

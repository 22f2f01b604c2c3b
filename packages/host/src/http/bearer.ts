// The bearer token of a request, and whose request that makes it. [X0-5.1-1]
import { McpxError } from "@mcpx/protocol";
import type { Tokens } from "../identity/tokens.ts";
import type { Principal } from "../principal.ts";
import { addressKey } from "./addresses.ts";
import type { HttpRequest } from "./request.ts";

/** The token of `Authorization: Bearer`, or throws `unauthorised`. */
export function bearerToken({ headers }: Pick<HttpRequest, "headers">): string {
  const { authorization } = headers;
  if (authorization === undefined) throw new McpxError("unauthorised", "no Authorization header");
  const match = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(authorization);
  if (match?.[1] === undefined) throw new McpxError("unauthorised", "Authorization is not one bearer token");
  return match[1];
}

/** Whose token a request has; its work is theirs from then on. Throws what `verify` throws. */
export async function principalOf(request: HttpRequest, tokens: Pick<Tokens, "verify">): Promise<Principal> {
  const principal = await tokens.verify(bearerToken(request), addressKey(request.remoteAddress));
  request.belongsTo(principal);
  return principal;
}

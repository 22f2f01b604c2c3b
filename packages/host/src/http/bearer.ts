// The bearer token of a request. [X0-5.1-1]
import { McpxError } from "@mcpx/protocol";
import type { HttpRequest } from "./request.ts";

/** The token of `Authorization: Bearer`, or throws `unauthorised`. */
export function bearerToken({ headers }: Pick<HttpRequest, "headers">): string {
  const { authorization } = headers;
  if (authorization === undefined) throw new McpxError("unauthorised", "no Authorization header");
  const match = /^Bearer +([A-Za-z0-9._~+/-]+=*)$/i.exec(authorization);
  if (match?.[1] === undefined) throw new McpxError("unauthorised", "Authorization is not one bearer token");
  return match[1];
}

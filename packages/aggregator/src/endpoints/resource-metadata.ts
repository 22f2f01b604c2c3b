// Who may let callers in here, for clients that come without a token (RFC 9728).
import type { HttpRequest, HttpResponse, IssuerConfig, Route } from "@mcpx/host";
import { errorTable, isMcpxError } from "@mcpx/protocol";
import { Refusal } from "./refusal.ts";

const wellKnown = "/.well-known/oauth-protected-resource";

export interface ResourceOptions {
  issuers: readonly Pick<IssuerConfig, "issuer">[];
  /** Whether clients can sign in at this gateway itself. */
  isIssuer?: boolean | undefined;
  /** Where callers reach us, where that is not the address they sent. */
  publicUrl?: string | undefined;
  /** The path of what is protected, as routes write it; `/mcp` unless given. */
  resourcePath?: string | undefined;
}

export function metadataRoutes(options: ResourceOptions): Route[] {
  const handle = (request: HttpRequest): HttpResponse => ({ body: metadata(options, request) });
  const { resourcePath } = options;
  if (resourcePath !== undefined) return [{ method: "GET", path: wellKnown + resourcePath, handle }];
  return [
    { method: "GET", path: wellKnown, handle },
    { method: "GET", path: `${wellKnown}/mcp`, handle },
    { method: "GET", path: `${wellKnown}/mcp/:profile`, handle },
  ];
}

function metadata(options: ResourceOptions, request: HttpRequest) {
  const others = options.issuers.map(({ issuer }) => issuer).filter((issuer) => /^https?:/.test(issuer));
  const issuers = options.isIssuer === true ? [baseOf(options, request), ...others] : others;
  return {
    resource: `${baseOf(options, request)}${pathOf(options, request)}`,
    ...(issuers.length > 0 && { authorization_servers: issuers }),
    bearer_methods_supported: ["header"],
    resource_name: "mcpx",
  };
}

function baseOf({ publicUrl }: ResourceOptions, { origin }: HttpRequest): string {
  return publicUrl?.replace(/\/$/, "") ?? origin;
}

/** With the parameters of the address that was asked for. */
function pathOf({ resourcePath }: ResourceOptions, { params }: HttpRequest): string {
  const path = resourcePath ?? (params.profile === undefined ? "/mcp" : "/mcp/:profile");
  return path.replace(/:([a-z]+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ""));
}

/** A refusal for want of a token says where one can be had; others are left as they are. */
export function challenged(options: ResourceOptions, request: HttpRequest, error: unknown): unknown {
  if (!isMcpxError(error) || errorTable[error.code].http !== 401) return error;
  const fault = request.headers.authorization === undefined ? "" : 'error="invalid_token", ';
  const where = `resource_metadata="${baseOf(options, request)}${wellKnown}${pathOf(options, request)}"`;
  return new Refusal(401, error, { "www-authenticate": `Bearer ${fault}${where}` });
}

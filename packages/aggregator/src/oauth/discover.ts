// Which authorization server a server trusts, and whether we can: RFC 9728, then RFC 8414 or OpenID discovery.
import { isMcpxError, McpxError } from "@mcpx/protocol";
import type {
  AuthorizationServerMetadata,
  OAuthProtectedResourceMetadata,
} from "@modelcontextprotocol/client";
import { faultOf } from "./fault.ts";
import { isSecureAddress } from "./guarded-fetch.ts";
import type { Party } from "./party.ts";

export interface AuthorizationServer {
  issuer: string;
  metadata: AuthorizationServerMetadata;
}

export interface Discovery extends AuthorizationServer {
  /** What the server calls itself; authorization servers want exactly this. */
  resource: string;
  /** What there is to ask for, where the server says so. */
  scope: string | undefined;
}

/** `known` is the issuer we have credentials of: it stays as long as the server names it. */
export async function discover(
  party: Party,
  resourceMetadata: URL | undefined,
  known: string | undefined,
): Promise<Discovery> {
  const described = await resourceDescription(party, resourceMetadata);
  const resource = described?.resource ?? canonical(party.url);
  if (!party.library.checkResourceAllowed({ requestedResource: party.url, configuredResource: resource })) {
    throw new McpxError(
      "server_unauthorised",
      "the server's metadata names another resource than the server",
    );
  }
  // COMPAT: before 2025-06-18 servers were their own authorization servers and described nothing.
  const named = described?.authorization_servers ?? [];
  const candidates = named.length > 0 ? named : [new URL("/", party.url).href];
  const address = choose(candidates, party.config.issuer, known);
  const scope = described?.scopes_supported?.join(" ") || undefined;
  return { ...(await describeIssuer(party, address)), resource, scope };
}

/** The metadata of an authorization server, believed only where it names itself as it was asked for. */
export async function describeIssuer(party: Party, address: string): Promise<AuthorizationServer> {
  let metadata: AuthorizationServerMetadata | undefined;
  try {
    metadata = await party.library.discoverAuthorizationServerMetadata(address, { fetchFn: party.fetch });
  } catch (error) {
    throw faultOf("reading the authorization server's metadata", error);
  }
  if (!metadata)
    throw new McpxError("server_unauthorised", "the authorization server has no metadata document");
  if (!metadata.code_challenge_methods_supported?.includes("S256")) {
    throw new McpxError("server_unauthorised", "the authorization server does not offer PKCE with S256");
  }
  const { authorization_endpoint, token_endpoint, registration_endpoint } = metadata;
  for (const endpoint of [authorization_endpoint, token_endpoint, registration_endpoint]) {
    if (endpoint !== undefined && !isSecureAddress(endpoint)) {
      throw new McpxError("server_unauthorised", "the authorization server has an endpoint without https");
    }
  }
  return { issuer: metadata.issuer, metadata };
}

async function resourceDescription(
  { library, url, fetch }: Party,
  resourceMetadataUrl: URL | undefined,
): Promise<OAuthProtectedResourceMetadata | undefined> {
  try {
    const where = resourceMetadataUrl && { resourceMetadataUrl };
    return await library.discoverOAuthProtectedResourceMetadata(url, where, fetch);
  } catch (error) {
    // An address the server gave must hold; one we only guess may be empty.
    if (isMcpxError(error) || resourceMetadataUrl)
      throw faultOf("reading the server's resource metadata", error);
    return undefined;
  }
}

function choose(
  candidates: readonly string[],
  wanted: string | undefined,
  known: string | undefined,
): string {
  if (wanted !== undefined) {
    const match = candidates.find((candidate) => isSameIssuer(candidate, wanted));
    if (match !== undefined) return match;
    throw new McpxError(
      "server_unauthorised",
      "the server names another authorization server than configured",
    );
  }
  return (
    candidates.find((candidate) => known !== undefined && isSameIssuer(candidate, known)) ??
    candidates[0] ??
    ""
  );
}

/** A lone trailing slash is what URL parsers add. */
function isSameIssuer(a: string, b: string): boolean {
  return a.replace(/\/$/, "") === b.replace(/\/$/, "");
}

function canonical(url: URL): string {
  const resource = new URL(url);
  resource.hash = "";
  return resource.pathname === "/" && !resource.search ? resource.origin : resource.href;
}

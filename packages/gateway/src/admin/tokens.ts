// GET /admin/tokens and DELETE /admin/tokens/{jti}: what was issued, and taking it back.
import type { HttpRequest, HttpResponse } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";
import { isoTime } from "../delivery/system-envelope.ts";
import { adminOf, numberOf } from "../rest/caller.ts";
import type { Gateway } from "../room/gateway-state.ts";

export async function listTokens(gateway: Gateway, request: HttpRequest): Promise<HttpResponse> {
  await adminOf(gateway, request);
  const limit = Math.min(numberOf(request.query, "limit", 100), gateway.limits.historyPageMax);
  const issued = await gateway.identity.revocations.list({ limit });
  const tokens = issued.map(({ issuedAt, expiresAt, revokedAt, ...token }) => ({
    ...token,
    issuedAt: isoTime(issuedAt),
    expiresAt: isoTime(expiresAt),
    revokedAt: revokedAt === undefined ? null : isoTime(revokedAt),
  }));
  return { body: { tokens } };
}

export async function revokeToken(gateway: Gateway, request: HttpRequest): Promise<HttpResponse> {
  const by = await adminOf(gateway, request);
  const jti = request.params.jti ?? "";
  if (jti === "" || jti.length > 128) throw new McpxError("bad_request", "invalid token id");
  const { revokedAt, known } = await gateway.identity.revocations.revoke(jti);
  await gateway.audit.recordNow({ action: "token.revoke", actor: by, subject: jti });
  return { body: { jti, revokedBy: by, revokedAt: isoTime(revokedAt), known } };
}

// Every address of the rooms, in one place.
import { type HttpRequest, type HttpResponse, type Metrics, principalKey, type Route } from "@mcpx/host";
import { errorTable, isMcpxError } from "@mcpx/protocol";
import { readAudit } from "./admin/audit.ts";
import { readAuditChain } from "./admin/audit-chain.ts";
import { listCapabilities, revokeCapability } from "./admin/capabilities.ts";
import { listConnections } from "./admin/connections.ts";
import { kick } from "./admin/kick.ts";
import { resetKey } from "./admin/reset-key.ts";
import { demote, promote } from "./admin/set-level.ts";
import { listTokens, revokeToken } from "./admin/tokens.ts";
import { callerOf, nameOf } from "./rest/caller.ts";
import { readHistory } from "./rest/history.ts";
import { oneAtATime } from "./rest/one-at-a-time.ts";
import { health, publicKeys, readiness, showMetrics } from "./rest/operations.ts";
import { listParticipants } from "./rest/participants.ts";
import { issueTicket } from "./rest/tickets.ts";
import { listTopics } from "./rest/topics.ts";
import type { Gateway } from "./room/gateway-state.ts";

/** A topic's name, and what a client adds that means nothing here. */
const ticketBytesMax = 4_096;

type Verb = (gateway: Gateway, request: HttpRequest) => Promise<HttpResponse>;

export function gatewayRoutes(gateway: Gateway, metrics: Metrics): Route[] {
  const guarded = (method: Route["method"], path: string, verb: Verb, bodyBytesMax?: number): Route => ({
    method,
    path,
    bodyBytesMax,
    handle: (request) => audited(gateway, `${method} ${path}`, request, verb),
  });
  const history = oneAtATime(
    async (request: HttpRequest) => principalKey(await callerOf(gateway, request)),
    (request) => readHistory(gateway, request),
  );
  return [
    guarded("GET", "/v0/topics", listTopics),
    guarded("GET", "/v0/topics/:topic/participants", listParticipants),
    guarded("GET", "/v0/topics/:topic/history", (_, request) => history(request)),
    guarded("POST", "/v0/tickets", issueTicket, ticketBytesMax),
    guarded("POST", "/admin/participants/:id/promote", promote),
    guarded("POST", "/admin/participants/:id/demote", demote),
    guarded("DELETE", "/admin/participants/:id", kick),
    guarded("DELETE", "/admin/participants/:id/key", resetKey),
    guarded("GET", "/admin/connections", listConnections),
    guarded("GET", "/admin/audit", readAudit),
    guarded("GET", "/admin/audit/chain", readAuditChain),
    guarded("GET", "/admin/tokens", listTokens),
    guarded("DELETE", "/admin/tokens/:jti", revokeToken),
    guarded("GET", "/admin/capabilities", listCapabilities),
    guarded("DELETE", "/admin/capabilities/:topic/:issuer/:id", revokeCapability),
    guarded("GET", "/metrics", (_, request) => showMetrics(gateway, metrics, request)),
    { method: "GET", path: "/healthz", handle: health },
    { method: "GET", path: "/readyz", handle: () => readiness(gateway) },
    { method: "GET", path: "/.well-known/jwks.json", handle: () => publicKeys(gateway) },
  ];
}

/** Every denial leaves a record. */
async function audited(
  gateway: Gateway,
  action: string,
  request: HttpRequest,
  verb: Verb,
): Promise<HttpResponse> {
  try {
    return await verb(gateway, request);
  } catch (error) {
    const status = isMcpxError(error) ? errorTable[error.code].http : 500;
    if (isMcpxError(error) && (status === 401 || status === 403)) {
      gateway.audit.record({ action, reason: error.code, actor: nameOf(request) });
    }
    throw error;
  }
}

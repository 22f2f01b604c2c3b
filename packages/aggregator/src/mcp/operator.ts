// Who may do an operator's work: admin tokens only, and what makes gates weaker not by a token alone. Every denial
// leaves a record.
import {
  type Audit,
  type HttpRequest,
  type HttpResponse,
  type Identity,
  isLocalRequest,
  type Principal,
  principalOf,
  type Route,
} from "@mcpx/host";
import { isMcpxError, McpxError } from "@mcpx/protocol";

interface Guard {
  identity: Pick<Identity, "tokens">;
  audit: Audit | undefined;
}

export interface LocalGuard extends Guard {
  identity: Pick<Identity, "tokens" | "secret">;
}

type Verb = (by: Principal, request: HttpRequest) => Promise<HttpResponse> | HttpResponse;

export function operatorRoute(
  { identity, audit }: Guard,
  method: "GET" | "POST" | "DELETE",
  path: string,
  verb: Verb,
): Route {
  const handle = async (request: HttpRequest): Promise<HttpResponse> => {
    let actor = request.remoteAddress;
    let by: Principal;
    try {
      by = await principalOf(request, identity.tokens);
      actor = by.id ?? actor;
      if (!by.admin) throw new McpxError("admin_only");
    } catch (error) {
      if (isMcpxError(error)) audit?.record({ action: `${method} ${path}`, reason: error.code, actor });
      throw error;
    }
    return await verb(by, request);
  };
  return { method, path, handle };
}

/** The same for work that makes gates weaker: a token that could do it would approve its own calls. */
export function localRoute(guard: LocalGuard, method: "POST" | "DELETE", path: string, verb: Verb): Route {
  return operatorRoute(guard, method, path, (by, request) => {
    requireLocal(guard, `${method} ${path}`, by, request);
    return verb(by, request);
  });
}

/** Throws unless somebody at the gateway's machine asks, or an approver who has logged in at its console. */
export function requireLocal(
  { identity, audit }: LocalGuard,
  action: string,
  { id }: Principal,
  request: HttpRequest,
): void {
  if (isLocalRequest(identity, request)) return;
  const reason = "privilege_violation";
  audit?.record({ action, reason, actor: id ?? request.remoteAddress });
  throw new McpxError(reason, "a token alone neither enrols approvers nor makes gates weaker", {
    suggestion:
      "Do it on the gateway's machine, at the console by a link of `mcpx console` or with an approver's passkey",
  });
}

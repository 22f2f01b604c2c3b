// Who may do an operator's work: admin tokens only, and every denial leaves a record.
import {
  type Audit,
  type HttpRequest,
  type HttpResponse,
  type Identity,
  type Principal,
  principalOf,
  type Route,
} from "@mcpx/host";
import { isMcpxError, McpxError } from "@mcpx/protocol";

interface Guard {
  identity: Pick<Identity, "tokens">;
  audit: Audit | undefined;
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

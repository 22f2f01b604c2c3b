// The addresses of a login with an account of the company: there, back again, and a dry run of its rules for admins.
import { faultPage, operatorRoute } from "@mcpx/aggregator";
import type { Audit, HttpRequest, HttpResponse, Identity, Principal, Route } from "@mcpx/host";
import { errorTable, isMcpxError, isObject, McpxError } from "@mcpx/protocol";
import type { Attempts } from "../passkeys/attempts.ts";
import { type CompanyLogins, callbackPath } from "./company-logins.ts";

export interface CompanyRoutesParts {
  company: CompanyLogins;
  identity: Pick<Identity, "tokens">;
  audit: Audit;
  /** Those that are under way, or have failed, of one address. */
  attempts: Attempts;
  /** Lets the browser in, with the rights of this token. */
  letIn(request: HttpRequest, token: string, principal: Principal): Promise<HttpResponse>;
}

export function companyRoutes(parts: CompanyRoutesParts): Route[] {
  const { company, audit, attempts } = parts;
  return [
    {
      method: "GET",
      path: "/console/login/with/:name",
      handle: shown(async (request) => {
        attempts.count(request.remoteAddress);
        const { location, cookie } = await company.begin(request.params.name ?? "", request);
        const headers = { location, "set-cookie": cookie, "referrer-policy": "no-referrer" };
        return { status: 303, headers };
      }),
    },
    {
      method: "GET",
      path: callbackPath,
      handle: shown(async (request) => {
        try {
          const { token, principal } = await company.finish(request);
          attempts.forgive(request.remoteAddress);
          return parts.letIn(request, token, principal);
        } catch (error) {
          const reason = isMcpxError(error) ? error.code : "internal";
          audit.record({
            action: "console.login",
            actor: request.remoteAddress,
            reason,
            detail: { company: true },
          });
          throw error;
        }
      }),
    },
    operatorRoute(parts, "POST", "/admin/logins/test", async (_by, request) => {
      const body = await request.json();
      const { login, claims } = isObject(body) ? body : {};
      if (typeof login !== "string" || !isObject(claims))
        throw new McpxError("bad_request", "login must be a name and claims an object");
      const { rights, fitting } = company.test(login, claims);
      return { body: { login, rights: rights ?? null, rules: [...fitting] } };
    }),
    operatorRoute(parts, "GET", "/admin/logins", () => ({ body: { logins: [...company.names] } })),
  ];
}

function shown(handle: (request: HttpRequest) => Promise<HttpResponse>): Route["handle"] {
  return async (request) => {
    try {
      return await handle(request);
    } catch (error) {
      if (!isMcpxError(error)) throw error;
      const { http, message } = errorTable[error.code];
      return faultPage(http, error.detail ?? message, error.suggestion);
    }
  };
}

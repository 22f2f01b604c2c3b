// Addresses of the gateway for the person who is logged in at the console: the same handlers, with a token that never leaves
// this process.
import { type HttpRequest, localHeader, type Route } from "@mcpx/host";
import type { Session } from "./sessions.ts";

export interface Operator {
  /** Throws `unauthorised` or `foreign_origin`. */
  check(request: HttpRequest): Session;
  /** An admin's, for one request. */
  adminToken(session: Session): Promise<string>;
  /** That a token is shown by somebody at this machine. */
  prove(token: string): string;
}

export const apiPath = "/console/api";

const offered = /^\/(?:admin\/|v0\/topics(?:\/|$))/;

/** Every administrative address, once more under the console's own path. */
export function operatorRoutes(routes: readonly Route[], operator: Operator): Route[] {
  return routes
    .filter(({ path }) => offered.test(path))
    .map((route) => ({
      ...route,
      path: `${apiPath}${route.path}`,
      handle: async (request) => {
        const session = operator.check(request);
        const token = await operator.adminToken(session);
        const proof = session.isLocal ? operator.prove(token) : undefined;
        return await route.handle(withToken(checkedAgain(request, operator.check), token, proof));
      },
    }));
}

/** The same request; who was logged out while its body came does nothing with it any more. */
export function checkedAgain(request: HttpRequest, check: Operator["check"]): HttpRequest {
  const still = <T>(body: T): T => {
    check(request);
    return body;
  };
  return {
    ...sameRequest(request),
    json: async () => still(await request.json()),
    text: async () => still(await request.text()),
  };
}

/** The same request, shown with another token. */
function withToken(request: HttpRequest, token: string, proof: string | undefined): HttpRequest {
  return {
    ...sameRequest(request),
    headers: { ...request.headers, authorization: `Bearer ${token}`, [localHeader]: proof },
  };
}

function sameRequest(request: HttpRequest): HttpRequest {
  const { method, path, params, query, remoteAddress, isLoopback, origin, headers } = request;
  return {
    method,
    path,
    params,
    query,
    remoteAddress,
    isLoopback,
    origin,
    headers,
    certificateNames: () => request.certificateNames(),
    hasJson: () => request.hasJson(),
    json: () => request.json(),
    text: () => request.text(),
    onGone: (callback) => request.onGone(callback),
    turn: () => request.turn(),
    nextTurn: () => request.nextTurn(),
    // The login pays, whatever token is shown in its place.
    belongsTo: () => undefined,
    onDone: (callback) => request.onDone(callback),
  };
}

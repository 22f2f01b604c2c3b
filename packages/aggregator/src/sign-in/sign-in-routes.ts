// GET /oauth/start/{ticket} (who signs in to what), POST there (go on), GET /oauth/callback (back from the authorization
// server); for the operator GET /admin/servers/{name}/users and DELETE /admin/servers/{name}/users/{user}.
import type { Audit, Handler, HttpRequest, HttpResponse, Identity, Route } from "@mcpx/host";
import { errorTable, isMcpxError, McpxError, quoteShort } from "@mcpx/protocol";
import { operatorRoute } from "../mcp/operator.ts";
import { principalName } from "../mcp/plain-caller.ts";
import { personalOf } from "../servers/server-origin.ts";
import { serversOf, type TreeState } from "../servers/tree-state.ts";
import { type SignInState, usersOf } from "../servers/users/sign-in-state.ts";
import { signOut } from "../servers/users/sign-out.ts";
import { beginSignIn, callbackPath } from "./begin-sign-in.ts";
import { isProof, newBrowserSecret, proofOf, readCookie, setCookie, tagOf } from "./browser-cookie.ts";
import { finishSignIn } from "./finish-sign-in.ts";
import { askPage, donePage, faultPage } from "./sign-in-pages.ts";

export interface SignInRoutesOptions {
  tree: { readonly state: TreeState };
  signIns: SignInState;
  identity: Pick<Identity, "tokens">;
  audit: Audit;
}

const start = "/oauth/start/:ticket";
const bodyBytesMax = 4_096;

export function signInRoutes({ tree, signIns, identity, audit }: SignInRoutesOptions): Route[] {
  const guard = { identity, audit };
  const shown = (handle: (request: HttpRequest) => Promise<HttpResponse> | HttpResponse): Handler => {
    return async (request) => {
      try {
        return await handle(request);
      } catch (error) {
        return faultFor(signIns, error);
      }
    };
  };
  return [
    { method: "GET", path: start, handle: shown((request) => ask(signIns, request)) },
    { method: "POST", path: start, handle: shown((request) => goOn(signIns, request)), bodyBytesMax },
    { method: "GET", path: callbackPath, handle: shown((request) => comeBack(signIns, request)) },
    operatorRoute(guard, "GET", "/admin/servers/:name/users", (_by, { params }) => {
      const server = findServer(tree.state, params.name);
      return { body: { server, users: usersOf(signIns, server) } };
    }),
    operatorRoute(guard, "DELETE", "/admin/servers/:name/users/:user", async (by, { params }) => {
      const server = findServer(tree.state, params.name);
      const user = params.user ?? "";
      const why = "an operator signed the user out";
      if (!(await signOut(signIns, { server, user, by: principalName(by), why }))) {
        throw new McpxError("not_found", "nobody of this name is signed in there");
      }
      return { body: { server, user, signedOutBy: principalName(by) } };
    }),
  ];
}

/** Changes nothing: chat programs look at addresses before people do. */
function ask(signIns: SignInState, { params, method }: HttpRequest): HttpResponse {
  const { ticket = "" } = params;
  const { server, personal, person } = signIns.tickets.find(ticket);
  const { host } = new URL(personal.target().url);
  if (method === "HEAD") return { status: 200 };
  const browser = newBrowserSecret();
  const proof = proofOf(signIns.secret, ticket, browser);
  const cookie = setCookie({ tag: tagOf(ticket), value: browser, isSecure: isSecure(signIns) });
  return withHeader(askPage({ server, host, user: person.name, proof }), "set-cookie", cookie);
}

async function goOn(signIns: SignInState, request: HttpRequest): Promise<HttpResponse> {
  const { ticket = "" } = request.params;
  const tag = tagOf(ticket);
  const { server, person } = signIns.tickets.find(ticket);
  const secret = readCookie(request.headers.cookie, tag, isSecure(signIns));
  const proof = new URLSearchParams(await request.text()).get("proof");
  const site = request.headers["sec-fetch-site"];
  const isFromPage = site === undefined || site === "same-origin";
  if (secret === undefined || !isFromPage || !isProof(proof, proofOf(signIns.secret, ticket, secret))) {
    const reason = "ticket_invalid";
    signIns.audit?.record({ action: "oauth.sign_in", actor: person.name, subject: server, reason });
    throw new McpxError(reason, "this request does not come from the sign-in page in this browser", {
      suggestion: "Open the address again, with cookies allowed, and press the button",
    });
  }
  const url = await beginSignIn(signIns, ticket, { tag, secret });
  return { status: 303, headers: { location: url.href, "referrer-policy": "no-referrer" } };
}

async function comeBack(
  signIns: SignInState,
  { query, headers, method }: HttpRequest,
): Promise<HttpResponse> {
  if (method === "HEAD") throw new McpxError("method_not_allowed");
  const secure = isSecure(signIns);
  const secretOf = (tag: string) => readCookie(headers.cookie, tag, secure);
  const { server, user, tag } = await finishSignIn(signIns, query, secretOf);
  const gone = setCookie({ tag, value: "", isSecure: secure });
  return withHeader(donePage(server, user), "set-cookie", gone);
}

function isSecure(signIns: SignInState): boolean {
  return new URL(signIns.base()).protocol === "https:";
}

function withHeader(response: HttpResponse, name: string, value: string): HttpResponse {
  return { ...response, headers: { ...response.headers, [name]: value } };
}

function faultFor({ log }: SignInState, thrown: unknown): HttpResponse {
  if (!isMcpxError(thrown)) log.error({ err: thrown }, "sign-in failed unexpectedly");
  const error = isMcpxError(thrown) ? thrown : new McpxError("internal");
  const detail = error.detail ?? errorTable[error.code].message;
  return faultPage(errorTable[error.code].http, detail, error.suggestion);
}

/** Its name, by that or by its segment. */
function findServer(state: TreeState, given: string | undefined): string {
  const own = serversOf(state).filter((server) => personalOf(server) !== undefined);
  const server = own.find(({ name }) => name === given) ?? own.find(({ segment }) => segment === given);
  if (server !== undefined) return server.name;
  throw new McpxError("not_found", `users do not sign in to a server ${quoteShort(given ?? "")}`);
}

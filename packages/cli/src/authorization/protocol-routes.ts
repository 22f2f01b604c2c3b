// The addresses of the protocol: discovery, registration, authorization, tokens, revocation, introspection. Each is
// counted, made plain where clients differ, and answered by the library.
import { faultPage } from "@mcpx/aggregator";
import type { Audit, Clock, HttpRequest, HttpResponse, Identity, Route } from "@mcpx/host";
import { errorTable, isMcpxError, isObject, type JsonObject, McpxError } from "@mcpx/protocol";
import { keyOf, nameOfToken } from "./adapter.ts";
import { type AuthorizationServer, addressHeader } from "./authorization-server.ts";
import type { ConsentParts } from "./consents.ts";
import { exchangeToken, isCrowded } from "./issue-token.ts";
import { paths, scope } from "./library-settings.ts";
import { createPerAddress } from "./per-address.ts";
import { readRegistration } from "./registration.ts";
import { type RelayedAnswer, relay } from "./relay.ts";
import { withoutUnseenRedirect } from "./unseen-redirect.ts";

export interface ProtocolParts extends ConsentParts {
  server: AuthorizationServer;
  identity: Pick<Identity, "tokens" | "revocations">;
  audit: Audit;
  clock: Clock;
}

const bodyBytesMax = 16_384;
const perMinute = { authorize: 120, register: 30, token: 300 };

export function protocolRoutes(parts: ProtocolParts): Route[] {
  const { clock } = parts;
  const countAuthorize = createPerAddress(clock, perMinute.authorize);
  const countRegister = createPerAddress(clock, perMinute.register);
  const countToken = createPerAddress(clock, perMinute.token);
  const plain = (request: HttpRequest) => answerOf(parts, request, { target: request.path });
  const post = (path: string, count: (address: string) => void, verb: Verb): Route => ({
    method: "POST",
    path,
    bodyBytesMax,
    handle: asOAuth(async (request) => {
      count(request.remoteAddress);
      return await verb(parts, request);
    }),
  });
  return [
    { method: "GET", path: "/.well-known/oauth-authorization-server", handle: plain },
    { method: "GET", path: "/.well-known/openid-configuration", handle: plain },
    { method: "GET", path: paths.jwks, handle: plain },
    post(paths.registration, countRegister, register),
    {
      method: "GET",
      path: paths.authorization,
      handle: asPage((request) => {
        countAuthorize(request.remoteAddress);
        return authorize(parts, request);
      }),
    },
    {
      method: "GET",
      path: `${paths.authorization}/:uid`,
      handle: asPage((request) => answerOf(parts, request, { target: request.path })),
    },
    post(paths.token, countToken, token),
    post(paths.revocation, countToken, revoke),
    post(paths.introspection, countToken, introspect),
  ];
}

type Verb = (parts: ProtocolParts, request: HttpRequest) => Promise<HttpResponse>;

async function register(parts: ProtocolParts, request: HttpRequest): Promise<HttpResponse> {
  const wish = readRegistration(await request.json());
  if ("fault" in wish) return oauthFault(400, "invalid_redirect_uri", wish.fault);
  return await answerOf(parts, request, { target: request.path, json: wish.metadata });
}

/** Scopes and prompts of clients differ, and none of them decides anything here. */
async function authorize(parts: ProtocolParts, request: HttpRequest): Promise<HttpResponse> {
  const query = new URLSearchParams(request.query);
  const asked = (query.get("scope") ?? "").split(" ");
  query.set("scope", asked.includes("openid") ? `openid ${scope}` : scope);
  if (query.get("prompt") !== "none") query.delete("prompt");
  const mode = query.get("response_mode");
  if (mode !== null && mode !== "query")
    throw new McpxError("bad_request", `response_mode must be query, not ${mode.slice(0, 40)}`);
  const answer = await answerOf(parts, request, { target: `${request.path}?${query}` });
  return await withoutUnseenRedirect(parts, query.get("client_id"), answer);
}

async function token(parts: ProtocolParts, request: HttpRequest): Promise<HttpResponse> {
  const form = await readForm(request);
  const refresh = form.get("refresh_token");
  if (refresh !== null && (await isCrowded(parts, refresh)))
    throw new McpxError("rate_limited", "this client has refreshed too often", { retryAfterMs: 60_000 });
  const answer = await answerOf(parts, request, { target: request.path, form });
  if (answer.status !== 200) return answer;
  const exchanged = await exchangeToken(parts, answer.text ?? "");
  if (exchanged === undefined) return oauthFault(400, "invalid_grant", "the permission was revoked");
  return { ...answer, text: JSON.stringify(exchanged) };
}

async function revoke(parts: ProtocolParts, request: HttpRequest): Promise<HttpResponse> {
  const form = await readForm(request);
  const given = form.get("token") ?? "";
  form.set("token", libraryName(given));
  const consent = await consentOf(parts, libraryName(given));
  const send = () => answerOf(parts, request, { target: request.path, form });
  return await parts.server.givingBack(consent, send);
}

async function introspect(parts: ProtocolParts, request: HttpRequest): Promise<HttpResponse> {
  const form = await readForm(request);
  form.set("token", libraryName(form.get("token") ?? ""));
  return await answerOf(parts, request, { target: request.path, form });
}

function libraryName(token: string): string {
  return token.split(".").length === 3 ? nameOfToken(token) : token;
}

async function consentOf({ store, clock }: ConsentParts, name: string): Promise<string | undefined> {
  const kinds = ["AccessToken", "RefreshToken"];
  const found = await Promise.all(kinds.map((kind) => store.find(kind, keyOf(name), clock.now())));
  return found.find((one) => one !== undefined)?.consent;
}

async function readForm(request: HttpRequest): Promise<URLSearchParams> {
  const type = request.headers["content-type"] ?? "";
  if (!/^application\/x-www-form-urlencoded\b/i.test(type))
    throw new McpxError("bad_request", "content-type must be application/x-www-form-urlencoded");
  return new URLSearchParams(await request.text());
}

interface Sending {
  target: string;
  form?: URLSearchParams;
  json?: JsonObject;
}

/** Only these headers of a request mean something to the library. */
const passed = ["authorization", "cookie", "accept"] as const;

async function answerOf(
  { server }: Pick<ProtocolParts, "server">,
  request: HttpRequest,
  { target, form, json }: Sending,
): Promise<HttpResponse> {
  const provider = await server.at(request.origin);
  const { host, protocol } = new URL(request.origin);
  const headers: Record<string, string> = {
    host,
    "x-forwarded-proto": protocol.slice(0, -1),
    [addressHeader]: request.remoteAddress,
  };
  for (const name of passed) {
    const value = request.headers[name];
    if (typeof value === "string") headers[name] = value;
  }
  if (form !== undefined) headers["content-type"] = "application/x-www-form-urlencoded";
  if (json !== undefined) headers["content-type"] = "application/json";
  const body = form?.toString() ?? (json === undefined ? undefined : JSON.stringify(json));
  const { method } = request;
  return toResponse(await relay(provider.callback(), { method, target, headers, body }));
}

const kept = ["content-type", "location", "www-authenticate"] as const;

function toResponse({ status, headers, text }: RelayedAnswer): HttpResponse {
  const shown: Record<string, string> = { "referrer-policy": "no-referrer", "cache-control": "no-store" };
  for (const name of kept) {
    const value = headers[name];
    if (typeof value === "string") shown[name] = value;
  }
  const cookies = headers["set-cookie"];
  return { status, text, headers: shown, ...(cookies !== undefined && { cookies }) };
}

function oauthFault(status: number, error: string, description: string): HttpResponse {
  return {
    status,
    body: { error, error_description: description },
    headers: { "cache-control": "no-store" },
  };
}

/** Errors of mcpx in the form that OAuth clients read. */
function asOAuth(handle: (request: HttpRequest) => Promise<HttpResponse>): Route["handle"] {
  return async (request) => {
    try {
      return await handle(request);
    } catch (error) {
      if (!isMcpxError(error) || errorTable[error.code].http === 500) throw error;
      const { http } = errorTable[error.code];
      const word = http === 429 ? "slow_down" : "invalid_request";
      const answer = oauthFault(http, word, error.detail ?? errorTable[error.code].message);
      const retry = Math.max(1, Math.ceil((error.retryAfterMs ?? 1_000) / 1_000));
      return http === 429
        ? { ...answer, headers: { ...answer.headers, "retry-after": String(retry) } }
        : answer;
    }
  };
}

/** An error before the redirect address of the client is known is shown to the person. */
function asPage(handle: (request: HttpRequest) => Promise<HttpResponse>): Route["handle"] {
  const again = "Begin again in the program that sent you here";
  return async (request) => {
    try {
      const answer = await handle(request);
      const { status = 200, headers = {}, text = "" } = answer;
      if (status < 400 || !headers["content-type"]?.startsWith("application/json")) return answer;
      const detail = detailOf(text);
      const page = faultPage(status, detail, detail.includes("metadata document") ? noDocument : again);
      return answer.cookies === undefined ? page : { ...page, cookies: answer.cookies };
    } catch (error) {
      if (!isMcpxError(error)) throw error;
      return faultPage(errorTable[error.code].http, error.detail ?? error.message, again);
    }
  };
}

const noDocument =
  'The gateway has to read the document that describes this program. Where it reaches no internet, set "authorization": {"clientDocuments": false} in mcpx.json, restart it, and add it to the program again';

function detailOf(text: string): string {
  const read: unknown = JSON.parse(text);
  const { error, error_description: description } = isObject(read) ? read : {};
  return String(description ?? error ?? "the request was refused").slice(0, 500);
}

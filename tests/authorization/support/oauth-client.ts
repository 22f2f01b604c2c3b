// A client of the authorization server in plain requests, and the person in the browser it sends: so that a test can
// change any one of them.
import { createHash, randomBytes } from "node:crypto";
import { type Visitor, visit } from "../../console/support/visitor.ts";
import { initialize } from "../../support/initialize.ts";
import type { TestServer } from "../../support/test-server.ts";

export type Client = Pick<Registered, "client_id">;

export interface Registered {
  client_id: string;
  client_secret?: string;
  redirect_uris: string[];
}

export const redirect = "http://127.0.0.1:7777/callback";

type Answer = { status: number; body: Record<string, unknown>; headers: Headers };

export async function registerClient(
  { url }: Pick<TestServer, "url">,
  metadata: Record<string, unknown> = {},
): Promise<Answer> {
  const response = await fetch(`${url}/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      client_name: "Test Client",
      redirect_uris: [redirect],
      token_endpoint_auth_method: "none",
      ...metadata,
    }),
  });
  return answerOf(response);
}

export async function newClient(server: TestServer, metadata = {}): Promise<Registered> {
  const { status, body } = await registerClient(server, metadata);
  if (status !== 201) throw new Error(`not registered: ${JSON.stringify(body)}`);
  return body as unknown as Registered;
}

export function newVerifier() {
  const verifier = randomBytes(32).toString("base64url");
  return { verifier, challenge: createHash("sha256").update(verifier).digest("base64url") };
}

/** A browser without scripts: what it was told to remember, and where it was sent. */
export interface Browser {
  cookies: Map<string, string>;
  go(address: string): Promise<{ status: number; location: string; text: string; headers: Headers }>;
}

export function newBrowser(): Browser {
  const cookies = new Map<string, string>();
  return {
    cookies,
    async go(address) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join("; ");
      const response = await fetch(address, { redirect: "manual", headers: { cookie, accept: "text/html" } });
      for (const one of response.headers.getSetCookie()) {
        const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(one) ?? [];
        if (value === "") cookies.delete(name);
        else cookies.set(name, value);
      }
      const { status, headers } = response;
      return { status, location: headers.get("location") ?? "", text: await response.text(), headers };
    },
  };
}

export function authorizeUrl(
  { url }: Pick<TestServer, "url">,
  client: Client,
  wish: Record<string, string | undefined>,
): string {
  const query = new URLSearchParams();
  const given = {
    response_type: "code",
    client_id: client.client_id,
    redirect_uri: redirect,
    code_challenge_method: "S256",
    state: "state-1",
    resource: `${url}/mcp`,
    ...wish,
  };
  for (const [name, value] of Object.entries(given)) if (value !== undefined) query.set(name, value);
  return `${url}/oauth/authorize?${query}`;
}

/** Whether a person would be asked; else what they see instead. */
export async function beginSignIn(
  server: Pick<TestServer, "url">,
  client: Client,
  wish: Record<string, string | undefined>,
) {
  const browser = newBrowser();
  const { challenge } = newVerifier();
  const answer = await browser.go(authorizeUrl(server, client, { code_challenge: challenge, ...wish }));
  const isAsked = answer.status === 303 && answer.location.startsWith("/console/authorize/");
  return { ...answer, browser, isAsked };
}

export const allowed = {
  decision: "allow",
  participant: "test-client",
  tools: ["**"],
  topics: ["kitchen"],
  level: "full",
  ttlMs: 3_600_000,
};

/** Somebody who is logged in at the console, in the browser that was sent there. */
export async function human(server: TestServer, browser: Browser, by?: Visitor) {
  const visitor = by ?? (await visit(server));
  const cookie = () =>
    [visitor.cookie, ...[...browser.cookies].map(([name, value]) => `${name}=${value}`)].join("; ");
  return {
    look: (page: string) => visitor.call("GET", `${page}/asked`, { headers: { cookie: cookie() } }),
    decide: (page: string, body: Record<string, unknown> = allowed) =>
      visitor.call("POST", `${page}/decision`, { body, headers: { cookie: cookie() } }),
  };
}

export async function tokenCall(
  { url }: Pick<TestServer, "url">,
  form: Record<string, string>,
  path = "/oauth/token",
): Promise<Answer> {
  const body = new URLSearchParams(form);
  return answerOf(await fetch(`${url}${path}`, { method: "POST", body }));
}

async function answerOf(response: Response): Promise<Answer> {
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.includes("json") ?? false;
  return { status: response.status, body: isJson ? JSON.parse(text) : { text }, headers: response.headers };
}

/** The whole way to a code, as everybody wants it. */
export async function codeFor(
  server: TestServer,
  client: Client,
  {
    decision = allowed,
    wish = {},
  }: { decision?: Record<string, unknown>; wish?: Record<string, string> } = {},
) {
  const { verifier, challenge } = newVerifier();
  const browser = newBrowser();
  const asked = await browser.go(authorizeUrl(server, client, { code_challenge: challenge, ...wish }));
  const page = new URL(asked.location, server.url).pathname;
  const decided = await (await human(server, browser)).decide(page, decision);
  const back = await browser.go(String(decided.body.location));
  const returned = new URL(back.location);
  return { verifier, browser, page, returned, code: returned.searchParams.get("code") ?? "" };
}

export interface SignedIn {
  client: Registered;
  access: string;
  refresh: string;
}

export async function signIn(
  server: TestServer,
  decision: Record<string, unknown> = allowed,
): Promise<SignedIn> {
  const client = await newClient(server);
  const { code, verifier } = await codeFor(server, client, { decision });
  const { body } = await exchange(server, client, { code, verifier });
  return { client, access: String(body.access_token), refresh: String(body.refresh_token) };
}

export function exchange(
  server: TestServer,
  client: Client,
  { code, verifier, ...more }: { code: string; verifier: string; [name: string]: string },
): Promise<Answer> {
  const { client_id } = client;
  const form = {
    grant_type: "authorization_code",
    client_id,
    redirect_uri: redirect,
    code,
    code_verifier: verifier,
  };
  return tokenCall(server, { ...form, ...more });
}

export function refreshCall(server: TestServer, { client, refresh }: SignedIn, more = {}): Promise<Answer> {
  const { client_id } = client;
  return tokenCall(server, { grant_type: "refresh_token", client_id, refresh_token: refresh, ...more });
}

/** What the tree answers this token: 200, or why not. */
export function reach({ url }: Pick<TestServer, "url">, token: string): Promise<number> {
  return initialize(`${url}/mcp`, token);
}

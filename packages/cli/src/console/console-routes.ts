// The console: its page, the way in and out, and the addresses behind the login. [X1-8-1]
import type { ApproverStore, PasskeyKey, RunningTree } from "@mcpx/aggregator";
import {
  type Audit,
  bearerToken,
  type Clock,
  type HttpRequest,
  type HttpResponse,
  type Identity,
  isLocalRequest,
  type Logger,
  localProof,
  principalOf,
  type Route,
} from "@mcpx/host";
import { isObject, type JsonObject, McpxError } from "@mcpx/protocol";
import { apiPath, checkedAgain, operatorRoutes } from "./as-operator.ts";
import { type BackupsOptions, createBackups } from "./backups.ts";
import { type CompanyLoginSettings, createCompanyLogins } from "./company/company-logins.ts";
import { companyRoutes } from "./company/company-routes.ts";
import { enrolBrowserKey } from "./enrol-browser-key.ts";
import { createGateNews, type GateNews, type WatchedGates } from "./gate-news.ts";
import { createLoginLinks } from "./login-links.ts";
import { mintToken } from "./mint-token.ts";
import { createOperatorTokens, type OperatorTokens } from "./operator-tokens.ts";
import { callByHand, showTree } from "./operator-tree.ts";
import { createAttempts } from "./passkeys/attempts.ts";
import { createPasskeyLogin, knownLoginKeys } from "./passkeys/log-in.ts";
import { createPasskeyRegistration } from "./passkeys/register.ts";
import { type PushVerbs, type PushVerbsOptions, pushVerbs } from "./push/push-verbs.ts";
import { removeApprover } from "./remove-approver.ts";
import type { Configuration } from "./servers/configuration.ts";
import { serverVerbs } from "./servers/server-verbs.ts";
import { createSessions, type LoginOrigin, type Session, type Sessions } from "./sessions.ts";
import { showFigures } from "./show-figures.ts";
import { consoleFiles } from "./static-files.ts";
import { createTokenLogins, type TokenLogins } from "./token-logins.ts";

export interface ConsoleOptions {
  identity: Identity;
  audit: Audit;
  clock: Clock;
  log: Pick<Logger, "error" | "warn">;
  tree: RunningTree;
  gates: WatchedGates;
  approvers: ApproverStore;
  /** Who runs this gateway. */
  user: string;
  /** What is shown is a demo. */
  isDemo: boolean;
  /** OpenID providers whose people log in; none unless given. */
  logins?: readonly CompanyLoginSettings[] | undefined;
  /** How often these are asked whether their people are still there. */
  loginAskMs?: number | undefined;
  /** The file its servers stand in; absent where the gateway was not started from one. */
  configuration?: Configuration | undefined;
  dataDir: BackupsOptions["dataDir"];
  /** Devices that are told what waits. */
  push: Pick<PushVerbsOptions, "store" | "services">;
  /** All other addresses; those for admins are offered here too. */
  routes: readonly Route[];
}

export interface Console {
  readonly routes: Route[];
  readonly isBuilt: boolean;
  /** The path of a link that lets one browser in, once. */
  loginPath(): string;
  /** Who is logged in. Throws where nobody is, or where another page asks. */
  check(request: HttpRequest): Session;
  close(): void;
}

/** How often the gateway looks whether passkeys were removed. */
const sweepMs = 1_000;
const loginBytesMax = 65_536;

/** The page tells people what a program reads in the error. */
const usedLink: HttpResponse = {
  status: 303,
  headers: { location: "/#used", "referrer-policy": "no-referrer" },
};

/** Only what a page calls itself: it becomes part of an id. */
const tabShape = /^[a-z0-9]{1,8}$/;

export function createConsole(options: ConsoleOptions): Console {
  const { identity, audit, clock, user, isDemo, tree } = options;
  const links = createLoginLinks(clock);
  const mayLogIn = (key: string) =>
    knownLoginKeys(options.gates).some(({ thumbprint }) => thumbprint === key);
  const logins = createTokenLogins(identity, clock);
  const endOfToken = (name: string) => logins.find(name)?.principal.expiresAt;
  const sessions = createSessions({ identity, clock, mayLogIn, endOfToken });
  const tokens = createOperatorTokens({ identity, clock, user, isOver: sessions.isOver, logins });
  const passkeyLogin = createPasskeyLogin(options);
  const company = createCompanyLogins({
    ...options,
    settings: options.logins ?? [],
    askMs: options.loginAskMs,
  });
  const companyLogin = companyRoutes({
    ...{ company, identity, audit, attempts: createAttempts(clock) },
    letIn(request, token, principal) {
      const origin = { token: logins.hold(token, principal), isLocal: false, epoch: sessions.epoch() };
      return entered(request, origin, { company: true });
    },
  });
  const passkeys = createPasskeyRegistration({ ...options, isOver: sessions.isOver });
  const files = consoleFiles();
  const news = createGateNews({ gates: options.gates, check: sessions.check });
  const backups = createBackups({ configuration: undefined, ...options });
  const push = pushVerbs({ ...options.push, audit, clock, user });
  const servers = serverVerbs({
    configuration: options.configuration,
    audit,
    log: options.log,
    user,
    isDemo,
  });
  const linkPath = (origin: Omit<LoginOrigin, "epoch">) =>
    `/in/${links.make({ ...origin, epoch: sessions.epoch() })}`;
  const inside = (
    method: Route["method"],
    path: string,
    verb: (session: Session, request: HttpRequest) => Promise<HttpResponse> | HttpResponse,
  ): Route => ({
    method,
    path: `${apiPath}${path}`,
    handle: (request) => verb(sessions.check(request), checkedAgain(request, sessions.check)),
  });
  const leaving = [logoutsRoute(options, { sessions, tokens, news, push }), ...companyLogin];
  const endCompany = async ({ token = "" }: Session) => {
    const login = logins.find(token);
    if (login !== undefined) await company.end(login.principal.jti);
  };
  const prove = (token: string) => localProof(identity, token);
  const operator = { check: sessions.check, adminToken: tokens.admin, prove };
  const sweeping = setInterval(() => {
    tokens.sweep().catch((error) => options.log.error({ err: error }, "could not end tokens of the console"));
  }, sweepMs).unref();
  return {
    isBuilt: files.isBuilt,
    loginPath: () => linkPath({ isLocal: true }),
    check: sessions.check,
    close() {
      clearInterval(sweeping);
      company.close();
      news.close();
    },
    routes: [
      ...files.routes,
      { method: "GET", path: "/in/:ticket", handle: (request) => logIn(request) },
      {
        method: "POST",
        path: "/console/login/offer",
        handle: async (request) => ({
          body: { passkey: await passkeyLogin.isOffered(request), logins: [...company.names] },
        }),
      },
      {
        method: "POST",
        path: "/console/login/options",
        bodyBytesMax: loginBytesMax,
        handle: async (request) => ({ body: await passkeyLogin.options(request) }),
      },
      {
        method: "POST",
        path: "/console/login",
        bodyBytesMax: loginBytesMax,
        handle: async (request) => logInWith(request, await passkeyLogin.prove(request)),
      },
      inside("GET", "/session", ({ expiresAt, token }) => ({
        body: {
          user: token === undefined ? user : (logins.find(token)?.principal.id ?? "token"),
          isDemo,
          expiresAt: new Date(expiresAt).toISOString(),
          now: clock.now(),
        },
      })),
      inside("POST", "/logout", (session, request) =>
        logOut({ sessions, tokens, news, audit, user, endCompany }, session, request),
      ),
      inside("POST", "/room-token", async (session, request) => ({
        status: 201,
        body: await tokens.room(session, await readTab(request)),
      })),
      inside("GET", "/gates/news", news.open),
      inside("GET", "/tree", async (session, { query }) => ({
        body: await showTree(tree, await tokens.principal(session), query.get("seen")),
      })),
      inside("GET", "/figures", () => ({ body: showFigures(tree) })),
      inside("POST", "/call", async (session, request) => ({
        body: await callByHand(tree, await tokens.principal(session), await request.text()),
      })),
      inside("DELETE", "/approvers/:name", async (session, { params }) => {
        local(session);
        return { body: await removeApprover(options, params.name ?? "") };
      }),
      inside("POST", "/approvers", async (session, request) => {
        local(session);
        return { status: 201, body: await enrolBrowserKey(options, await request.json()) };
      }),
      inside("GET", "/passkeys", async (session) => ({ body: await passkeys.list(session) })),
      inside("POST", "/passkeys/options", async (session, request) => ({
        body: await passkeys.options(local(session), request),
      })),
      inside("POST", "/passkeys", async (session, request) => ({
        status: 201,
        body: await passkeys.register(local(session), request),
      })),
      inside("GET", "/backups", () => ({ body: backups.list() })),
      inside("POST", "/backups", async (session) => {
        local(session);
        return { status: 201, body: await backups.make() };
      }),
      inside("POST", "/backups/:name/check", async (session, { params }) => {
        local(session);
        return { body: await backups.verify(params.name ?? "") };
      }),
      inside("GET", "/push", async () => ({ body: await push.show() })),
      inside("POST", "/push", async (session, request) => {
        local(session);
        return { status: 201, body: await push.add(request) };
      }),
      inside("DELETE", "/push/:id", async (session, { params }) => {
        local(session);
        return { body: await push.remove(params.id ?? "") };
      }),
      inside("POST", "/tokens", async (session, request) => {
        local(session);
        return { status: 201, body: await mintToken(options, await request.json()) };
      }),
      inside("GET", "/servers", async ({ isLocal }, request) => ({
        body: isLocal ? await servers.look(request) : { file: null, obstacle: byTokenAlone },
      })),
      inside("GET", "/servers/found", async (session, request) => {
        local(session);
        return { body: await servers.find(request) };
      }),
      inside("POST", "/servers/preview", async (session, request) => {
        local(session);
        return { body: await servers.preview(request) };
      }),
      inside("POST", "/servers/change", async (session, request) => {
        local(session);
        return { status: 201, body: await servers.change(request) };
      }),
      inside("POST", "/admin/console-links", async (session, request) => {
        await request.text();
        const { key, token, isLocal } = session;
        const { id } = await tokens.principal(session);
        await audit.recordNow({ action: "console.link", actor: id ?? `console:${user}` });
        return { status: 201, body: { path: linkPath({ key, token, isLocal }) } };
      }),
      ...operatorRoutes([...options.routes, ...leaving], operator),
      ...leaving,
      linkRoute(options, logins, linkPath),
    ],
  };

  async function logIn(request: HttpRequest): Promise<HttpResponse> {
    const origin = useLink(request);
    if (origin === undefined) return usedLink;
    return entered(request, origin, origin.isLocal ? {} : { byToken: true });
  }

  async function entered(request: HttpRequest, origin: LoginOrigin, how: JsonObject): Promise<HttpResponse> {
    const { cookie, half } = sessions.begin(request, origin);
    const login = origin.token === undefined ? undefined : logins.find(origin.token);
    const detail = { from: request.remoteAddress, ...how };
    await audit.recordNow({ action: "console.login", actor: login?.principal.id ?? user, detail });
    // Behind the # it is sent to nobody.
    const headers = { location: `/#in=${half}`, "set-cookie": cookie, "referrer-policy": "no-referrer" };
    return { status: 303, headers };
  }

  /** `undefined` where it is used up and a person looks. */
  function useLink({ params, remoteAddress, headers }: HttpRequest): LoginOrigin | undefined {
    try {
      return links.use(params.ticket);
    } catch (error) {
      audit.record({ action: "console.login", actor: remoteAddress, reason: "ticket_invalid" });
      if (headers.accept?.includes("text/html")) return undefined;
      throw error;
    }
  }

  async function logInWith(request: HttpRequest, { name, thumbprint }: PasskeyKey): Promise<HttpResponse> {
    const { cookie, half } = sessions.begin(request, {
      key: thumbprint,
      isLocal: true,
      epoch: sessions.epoch(),
    });
    const detail = { from: request.remoteAddress, passkey: name, key: thumbprint };
    await audit.recordNow({ action: "console.login", actor: user, detail });
    return { body: { half }, headers: { "set-cookie": cookie, "cache-control": "no-store" } };
  }
}

/**
 * POST /admin/console-links: for `mcpx console`. A caller with only a token gets a link that may do what the token may
 * do.
 */
function linkRoute(
  { identity, audit }: ConsoleOptions,
  logins: TokenLogins,
  linkPath: (origin: Omit<LoginOrigin, "epoch">) => string,
): Route {
  return {
    method: "POST",
    path: "/admin/console-links",
    handle: async (request) => {
      const token = bearerToken(request);
      const principal = await principalOf(request, identity.tokens);
      if (!principal.admin) throw new McpxError("admin_only");
      const isLocal = isLocalRequest(identity, request);
      const origin = isLocal ? { isLocal } : { isLocal, token: logins.hold(token, principal) };
      await audit.recordNow({ action: "console.link", actor: principal.id, detail: { isLocal } });
      return { status: 201, body: { path: linkPath(origin) } };
    },
  };
}

/** POST /admin/console-logouts: everybody is logged out, with whatever they have. */
function logoutsRoute(
  { identity, audit }: ConsoleOptions,
  { sessions, tokens, news, push }: Pick<Leaving, "sessions" | "tokens" | "news"> & { push: PushVerbs },
): Route {
  return {
    method: "POST",
    path: "/admin/console-logouts",
    handle: async (request) => {
      const { admin, id } = await principalOf(request, identity.tokens);
      if (!admin) throw new McpxError("admin_only");
      await sessions.endAll();
      await tokens.sweep();
      news.sweep();
      await push.removeAll();
      await audit.recordNow({ action: "console.logout", actor: id, detail: { everybody: true } });
      return { body: {} };
    },
  };
}

const byTokenAlone =
  "this login came from a token, which changes no servers, passkeys or approvers and makes no tokens";

/**
 * Throws where a token alone has logged in: a token starts no programs, approves no calls, nor lets itself in again.
 */
function local(session: Session): Session {
  if (session.isLocal) return session;
  throw new McpxError("privilege_violation", byTokenAlone, {
    suggestion: "Log in with a link that `mcpx console` makes on the gateway's machine, or with a passkey",
  });
}

async function readTab(request: HttpRequest): Promise<string> {
  const body = await request.json();
  const tab = isObject(body) ? body.tab : undefined;
  if (typeof tab !== "string" || !tabShape.test(tab)) {
    throw new McpxError("bad_request", "tab must be 1 to 8 letters or digits");
  }
  return tab;
}

interface Leaving {
  sessions: Sessions;
  tokens: OperatorTokens;
  news: GateNews;
  audit: Audit;
  user: string;
  /** Where the login came from a company's account, that is over too. */
  endCompany(session: Session): Promise<void>;
}

/** Ends the login and its connections to rooms. */
async function logOut(
  { sessions, tokens, news, audit, user, endCompany }: Leaving,
  session: Session,
  request: HttpRequest,
): Promise<HttpResponse> {
  const cookie = await sessions.end(request, session);
  await tokens.revoke(session);
  await endCompany(session);
  news.sweep();
  await audit.recordNow({ action: "console.logout", actor: user });
  return { body: {}, headers: { "set-cookie": cookie } };
}

// The console: its page, the way in and out, and the addresses behind the login. [X1-8-1]
import type { ApproverStore, Gatekeeper, RunningTree } from "@mcpx/aggregator";
import {
  type Audit,
  bearerToken,
  type Clock,
  type HttpRequest,
  type HttpResponse,
  type Identity,
  type Route,
} from "@mcpx/host";
import { isObject, McpxError } from "@mcpx/protocol";
import { apiPath, operatorRoutes } from "./as-operator.ts";
import { enrolBrowserKey } from "./enrol-browser-key.ts";
import { createLoginLinks } from "./login-links.ts";
import { mintToken } from "./mint-token.ts";
import { createOperatorTokens, type OperatorTokens } from "./operator-tokens.ts";
import { callByHand, showTree } from "./operator-tree.ts";
import { createSessions, type Session, type Sessions } from "./sessions.ts";
import { consoleFiles } from "./static-files.ts";

export interface ConsoleOptions {
  identity: Identity;
  audit: Audit;
  clock: Clock;
  tree: RunningTree;
  gates: Pick<Gatekeeper, "anchors">;
  approvers: ApproverStore;
  /** Who runs this gateway. */
  user: string;
  /** What is shown is a demo. */
  isDemo: boolean;
  /** All other addresses; those for admins are offered here too. */
  routes: readonly Route[];
}

export interface Console {
  readonly routes: Route[];
  readonly isBuilt: boolean;
  /** The path of a link that lets one browser in, once. */
  loginPath(): string;
}

/** Only what a page calls itself: it becomes part of an id. */
const tabShape = /^[a-z0-9]{1,8}$/;

export function createConsole(options: ConsoleOptions): Console {
  const { identity, audit, clock, user, isDemo, tree } = options;
  const links = createLoginLinks(clock);
  const sessions = createSessions({ identity, clock });
  const tokens = createOperatorTokens({ identity, clock, user });
  const files = consoleFiles();
  const loginPath = () => `/in/${links.make()}`;
  const inside = (
    method: Route["method"],
    path: string,
    verb: (session: Session, request: HttpRequest) => Promise<HttpResponse> | HttpResponse,
  ): Route => ({
    method,
    path: `${apiPath}${path}`,
    handle: (request) => verb(sessions.check(request), request),
  });
  const operator = { check: sessions.check, adminToken: tokens.admin };
  return {
    isBuilt: files.isBuilt,
    loginPath,
    routes: [
      ...files.routes,
      { method: "GET", path: "/in/:ticket", handle: (request) => logIn(request) },
      inside("GET", "/session", ({ expiresAt }) => ({
        body: { user, isDemo, expiresAt: new Date(expiresAt).toISOString(), now: clock.now() },
      })),
      inside("POST", "/logout", (session, request) =>
        logOut({ sessions, tokens, audit, user }, session, request),
      ),
      inside("POST", "/room-token", async (session, request) => ({
        status: 201,
        body: await tokens.room(session, await readTab(request)),
      })),
      inside("GET", "/tree", async (session) => ({
        body: await showTree(tree, await tokens.principal(session)),
      })),
      inside("POST", "/call", async (session, request) => ({
        body: await callByHand(tree, await tokens.principal(session), await request.text()),
      })),
      inside("POST", "/approvers", async (_session, request) => ({
        status: 201,
        body: await enrolBrowserKey(options, await request.json()),
      })),
      inside("POST", "/tokens", async (_session, request) => ({
        status: 201,
        body: await mintToken(options, await request.json()),
      })),
      ...operatorRoutes([...options.routes, ...linkRoutes(options, loginPath)], operator),
      ...linkRoutes(options, loginPath),
    ],
  };

  function logIn(request: HttpRequest): HttpResponse {
    try {
      links.use(request.params.ticket);
    } catch (error) {
      audit.record({ action: "console.login", actor: request.remoteAddress, reason: "ticket_invalid" });
      throw error;
    }
    const { cookie, half } = sessions.begin(request);
    audit.recordNow({ action: "console.login", actor: user, detail: { from: request.remoteAddress } });
    // Behind the # it is sent to nobody.
    const headers = { location: `/#in=${half}`, "set-cookie": cookie, "referrer-policy": "no-referrer" };
    return { status: 303, headers };
  }
}

/** POST /admin/console-links: for `mcpx console`, and for another browser. */
function linkRoutes({ identity, audit }: ConsoleOptions, loginPath: () => string): Route[] {
  return [
    {
      method: "POST",
      path: "/admin/console-links",
      handle: async (request) => {
        const { admin, id } = await identity.tokens.verify(bearerToken(request));
        if (!admin) throw new McpxError("admin_only");
        audit.recordNow({ action: "console.link", actor: id });
        return { status: 201, body: { path: loginPath() } };
      },
    },
  ];
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
  audit: Audit;
  user: string;
}

/** Its rooms end too. */
function logOut(
  { sessions, tokens, audit, user }: Leaving,
  session: Session,
  request: HttpRequest,
): HttpResponse {
  const cookie = sessions.end(request, session);
  tokens.revoke(session);
  audit.recordNow({ action: "console.logout", actor: user });
  return { body: {}, headers: { "set-cookie": cookie } };
}

// Who is logged in at the console. A session is a cookie that scripts cannot read, and a second half that only pages of
// this very origin have: cookies are shared by all ports of a machine. Both are signed, so that a restart of the
// gateway logs nobody out; ending one is kept with the revoked tokens.
import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { Clock, HttpRequest, Identity } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";

/** Where a login comes from; what it begins goes no further and lasts no longer. */
export interface LoginOrigin {
  /** The passkey it was begun with, or its link was made with; absent where there was none. */
  readonly key?: string | undefined;
  /** The token it was begun with, as `TokenLogins` names it, where it was a token alone. */
  readonly token?: string | undefined;
  /** By somebody at the gateway's machine, or whom they have let in; not by a token alone. */
  readonly isLocal: boolean;
  /** Which of the times between two endings of all logins. */
  readonly epoch: number;
}

export interface Session extends LoginOrigin {
  readonly id: string;
  /** Ms since 1970. */
  readonly expiresAt: number;
}

interface NewSession extends Session {
  cookie: string;
  /** For the page alone. */
  half: string;
}

export interface Sessions {
  begin(request: HttpRequest, origin: LoginOrigin): NewSession;
  /** For logins that begin now. */
  epoch(): number;
  /** Throws `unauthorised`, or `foreign_origin` where another page asks. */
  check(request: HttpRequest): Session;
  /** The `set-cookie` that takes the cookie away. */
  end(request: HttpRequest, session: Session): Promise<string>;
  /** Of everybody, also what was only begun. */
  endAll(): Promise<void>;
  /** Also where nobody can say: what cannot be looked up does not count. */
  isOver(session: Session): boolean;
}

const halfHeader = "x-mcpx-console";
const lifeMs = 12 * 3_600_000;
const cookieShape =
  /^(([A-Za-z0-9_-]{22})\.(\d{13})(?:\.([A-Za-z0-9_-]{43}))?\.(\d{1,6})(local|token))\.([A-Za-z0-9_-]{43})$/;

export interface SessionsOptions {
  identity: Pick<Identity, "secret" | "revocations">;
  clock: Pick<Clock, "now">;
  /** Whether this passkey still lets somebody in: its sessions end with it. */
  mayLogIn(key: string): boolean;
  /** When the token ends with which a session was begun; `undefined` where it is no longer valid. */
  endOfToken(name: string): number | undefined;
}

export function createSessions({ identity, clock, mayLogIn, endOfToken }: SessionsOptions): Sessions {
  const secret = identity.secret("console");
  const sign = (text: string) => createHmac("sha256", secret).update(text).digest("base64url");
  const halfOf = (id: string) => sign(`half ${id}`);

  const { revoke, isRevoked } = identity.revocations;
  // Kept with the revoked tokens, far longer than any session lives.
  const epochName = (epoch: number) => `console:all:${epoch}`;
  const epochNow = () => {
    let epoch = 0;
    while (isRevoked(epochName(epoch))) epoch += 1;
    return epoch;
  };
  const hasToken = ({ isLocal, token }: LoginOrigin) =>
    isLocal || (token !== undefined && endOfToken(token) !== undefined);
  const isAlive = ({ id, expiresAt, key, epoch, ...origin }: Session) =>
    expiresAt > clock.now() &&
    !isRevoked(`console:${id}`) &&
    !isRevoked(epochName(epoch)) &&
    (key === undefined || mayLogIn(key)) &&
    hasToken({ ...origin, epoch });

  return {
    epoch: epochNow,
    begin(request, origin) {
      const id = randomBytes(16).toString("base64url");
      const { key, token, isLocal, epoch } = origin;
      const end = token === undefined ? undefined : (endOfToken(token) ?? 0);
      const expiresAt = Math.min(clock.now() + lifeMs, end ?? Number.POSITIVE_INFINITY);
      const mark = `${epoch}${isLocal ? "local" : "token"}`;
      const said = [id, expiresAt, key ?? token, mark].filter((part) => part !== undefined).join(".");
      const value = `${said}.${sign(said)}`;
      const cookie = cookieText(request, value, lifeMs / 1_000);
      return { id, expiresAt, key, token, isLocal, epoch, half: halfOf(id), cookie };
    },
    check(request) {
      checkOrigin(request);
      const [, said = "", id = "", expires = "", by, epoch = "", mark = "", mac = ""] =
        cookieShape.exec(cookieOf(request, cookieName(request)) ?? "") ?? [];
      const half = request.headers[halfHeader];
      const isSigned = isSame(mac, sign(said)) && isSame(typeof half === "string" ? half : "", halfOf(id));
      const isLocal = mark === "local";
      const origin = isLocal ? { key: by } : { token: by };
      const session = { id, expiresAt: Number(expires), ...origin, isLocal, epoch: Number(epoch) };
      if (isSigned && isAlive(session)) {
        // All logins by one token end together with it.
        const jti = isLocal ? id : (by ?? id);
        request.belongsTo({ issuer: "console", id: jti, jti });
        return session;
      }
      throw new McpxError("unauthorised", "nobody is logged in at this console", {
        suggestion: "Get a link with `mcpx console`",
      });
    },
    isOver(session) {
      try {
        return !isAlive(session);
      } catch {
        return true;
      }
    },
    async endAll() {
      await revoke(epochName(epochNow()));
    },
    async end(request, { id }) {
      await revoke(`console:${id}`);
      return cookieText(request, "", 0);
    },
  };
}

/** Pages elsewhere that may use the API with a token of their own have no business here. */
export function checkOrigin({ headers, method }: HttpRequest): void {
  const { origin, host } = headers;
  const site = headers["sec-fetch-site"];
  const isOwn = origin === undefined ? method === "GET" : URL.parse(origin)?.host === host;
  if (!isOwn || (site !== undefined && site !== "same-origin")) throw new McpxError("foreign_origin");
}

function isHttps({ origin }: HttpRequest): boolean {
  return origin.startsWith("https:");
}

/** One for each port: gateways side by side do not log each other out. */
function cookieName(request: HttpRequest): string {
  const { port } = new URL(request.origin);
  const name = `mcpx-console${port === "" ? "" : `-${port}`}`;
  return isHttps(request) ? `__Host-${name}` : name;
}

function cookieText(request: HttpRequest, value: string, seconds: number): string {
  const bounds = isHttps(request) ? "Path=/; Secure" : "Path=/console";
  return `${cookieName(request)}=${value}; ${bounds}; HttpOnly; SameSite=Strict; Max-Age=${seconds}`;
}

/** `undefined` where it came twice: which one counts is nobody's guess. */
function cookieOf({ headers }: HttpRequest, name: string): string | undefined {
  const values = (headers.cookie ?? "")
    .split(";")
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(`${name}=`))
    .map((pair) => pair.slice(name.length + 1));
  return values.length === 1 ? values[0] : undefined;
}

function isSame(given: string, wanted: string): boolean {
  return given.length === wanted.length && timingSafeEqual(Buffer.from(given), Buffer.from(wanted));
}

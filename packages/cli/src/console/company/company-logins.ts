// Logins with an account of the company: a person is sent to its OpenID provider and comes back with claims, which
// rules turn into rights. The login is a token of the gateway's own that never leaves this process; it ends when the
// provider no longer knows the person, or says something else of them.
import { hash, randomBytes } from "node:crypto";
import type { Audit, Clock, HttpRequest, Identity, Logger, Principal } from "@mcpx/host";
import { isId, type JsonObject, McpxError } from "@mcpx/protocol";
import { createSingleUse } from "../passkeys/single-use.ts";
import { type Begun, createOpenId, type OpenIdSettings, troubleOf } from "./openid.ts";
import { type Rights, type RightsRule, rightsOf, type Verdict } from "./rights.ts";

export interface CompanyLoginSettings extends OpenIdSettings {
  readonly name: string;
  readonly rules: readonly RightsRule[];
}

export interface CompanyLogins {
  readonly names: readonly string[];
  /** Where to send the browser, and what it has to bring back. */
  begin(name: string, request: HttpRequest): Promise<{ location: string; cookie: string }>;
  /** The person who came back, with a token of their rights. Throws where no rule of the login fits them. */
  finish(request: HttpRequest): Promise<{ token: string; principal: Principal }>;
  /** What somebody with these claims could do. */
  test(name: string, claims: JsonObject): Verdict;
  /** The login with this token is over. */
  end(jti: string): Promise<void>;
  close(): void;
}

export interface CompanyLoginsOptions {
  settings: readonly CompanyLoginSettings[];
  identity: Pick<Identity, "tokens" | "revocations">;
  audit: Audit;
  clock: Clock;
  log: Pick<Logger, "warn">;
  /** How often providers are asked whether their people are still there. */
  askMs?: number | undefined;
}

const promptMs = 600_000;
const openMax = 1_000;
const liveMax = 500;
const askMsDefault = 120_000;
/** Providers count how often they are asked. */
const askedAtOnceMax = 8;
/** So long a provider may be out of order before its logins end. */
const silenceMsMax = 900_000;
const lifeMs = 12 * 3_600_000;
/** Where the provider gives nothing to ask again with. */
const unaskedLifeMs = 900_000;

interface Pending extends Begun {
  name: string;
  redirect: string;
}

interface Live {
  name: string;
  sub: string;
  rights: Rights;
  refresh: string;
  /** When the provider has answered last. */
  seenAt: number;
  endsAt: number;
}

export function createCompanyLogins(options: CompanyLoginsOptions): CompanyLogins {
  const { settings, identity, audit, clock, log, askMs = askMsDefault } = options;
  const providers = new Map(settings.map((one) => [one.name, { ...one, openId: createOpenId(one, clock) }]));
  const pending = createSingleUse<Pending>(clock, { lifeMs: promptMs, countMax: openMax });
  const live = new Map<string, Live>();
  const providerOf = (name: string) => {
    const provider = providers.get(name);
    if (provider === undefined) throw new McpxError("not_found", `there is no login ${name.slice(0, 64)}`);
    return provider;
  };
  const end = async (jti: string, why: string) => {
    const login = live.get(jti);
    live.delete(jti);
    await identity.revocations.revoke(jti);
    const subject = login === undefined ? undefined : `${login.name}/${login.sub}`;
    await audit.recordNow({ action: "console.logout", actor: "gateway", subject, detail: { why } });
  };
  const ask = async (jti: string, login: Live) => {
    const { openId, rules } = providerOf(login.name);
    try {
      const answer = await openId.askAgain(login.refresh);
      if (!live.has(jti)) return;
      if (answer === "gone") return await end(jti, "the provider has ended this login");
      const isAnother = Object.keys(answer.claims).length > 0 && isChanged(login, answer.claims, rules);
      if (isAnother) return await end(jti, "the provider's claims about this person have changed");
      Object.assign(login, { refresh: answer.refresh ?? login.refresh, seenAt: clock.monotonic() });
    } catch (err) {
      log.warn({ err, login: login.name }, "could not ask a login's provider");
    }
  };
  /** Each once: two questions about one login would each spend the other's refresh token. */
  const askAll = async () => {
    const all = [...live];
    const askOn = async () => {
      for (let next = all.shift(); next !== undefined; next = all.shift()) await ask(...next);
    };
    await Promise.all(Array.from({ length: askedAtOnceMax }, askOn));
  };
  const endSilent = async () => {
    for (const [jti, { endsAt, seenAt }] of live) {
      if (endsAt <= clock.now()) live.delete(jti);
      else if (clock.monotonic() - seenAt > silenceMsMax) await end(jti, "the provider did not answer");
    }
  };
  let isAsking = false;
  const timer = setInterval(() => {
    endSilent().catch((err: unknown) => log.warn({ err }, "could not end logins"));
    if (isAsking) return;
    isAsking = true;
    void askAll().finally(() => {
      isAsking = false;
    });
  }, askMs).unref();
  return {
    names: [...providers.keys()],
    async begin(name, request) {
      const { openId } = providerOf(name);
      const state = randomBytes(32).toString("base64url");
      const redirect = `${request.origin}${callbackPath}`;
      const begun = await openId.begin(redirect, state).catch((error: unknown) => {
        throw outOfOrder(name, troubleOf(error) ?? "cannot be understood", error);
      });
      pending.keep(keyOf(state), { ...begun, name, redirect });
      return { location: begun.location.href, cookie: cookieText(request, state, promptMs / 1_000) };
    },
    async finish(request) {
      const state = request.query.get("state") ?? "";
      const begun = state === cookieOf(request) ? pending.take(keyOf(state)) : undefined;
      if (begun === undefined) throw notBegun();
      const { openId, rules, name } = providerOf(begun.name);
      const came = new URL(`${begun.redirect}?${request.query}`);
      const proven = await openId.finish(came, { ...begun, state }).catch((cause: unknown) => {
        const trouble = troubleOf(cause);
        if (trouble !== undefined) throw outOfOrder(name, trouble, cause);
        throw new McpxError("unauthorised", `the answer of the login provider ${name} is not valid`, {
          cause,
        });
      });
      const rights = adminRights(rightsOf(proven.claims, rules).rights, name);
      const sub = subjectOf(proven.claims);
      if (live.size >= liveMax)
        throw new McpxError("rate_limited", "too many people are logged in", { retryAfterMs: askMs });
      const { refresh } = proven;
      const ttlMs = refresh === undefined ? unaskedLifeMs : lifeMs;
      const { topics, tools, level } = rights;
      const claims = { sub: `${name}/${sub}`, topics, tools, level, kind: "human", admin: true } as const;
      const { token, jti, expiresAt } = await identity.tokens.mint(claims, { ttlMs });
      if (refresh !== undefined)
        live.set(jti, {
          ...{ name, sub, rights, refresh },
          seenAt: clock.monotonic(),
          endsAt: expiresAt,
        });
      return { token, principal: await identity.tokens.verify(token) };
    },
    test: (name, claims) => rightsOf(claims, providerOf(name).rules),
    end: async (jti) => {
      if (live.has(jti)) await end(jti, "logged out");
    },
    close: () => clearInterval(timer),
  };
}

export const callbackPath = "/console/login/callback";

function outOfOrder(name: string, trouble: string, cause: unknown): McpxError {
  return new McpxError("identity_unavailable", `the login provider ${name} ${trouble}`, {
    cause,
    suggestion:
      "Log in again in a minute, or with a passkey or a link that `mcpx console` makes; where that goes on, the operator of the provider has to look",
  });
}

function isChanged({ sub, rights }: Live, claims: JsonObject, rules: readonly RightsRule[]): boolean {
  return (
    subjectOf(claims) !== sub || JSON.stringify(rightsOf(claims, rules).rights) !== JSON.stringify(rights)
  );
}

/** Only admins have business at the console. */
function adminRights(rights: Rights | undefined, name: string): Rights {
  if (rights?.admin === true) return rights;
  const detail =
    rights === undefined
      ? `no rule of the login ${name} fits you`
      : `the rules of the login ${name} do not make you an admin`;
  throw new McpxError("admin_only", detail, {
    suggestion: "Ask who runs the gateway: mcpx access test shows why",
  });
}

/** Never an e-mail address: two people can have had the same. */
function subjectOf({ sub }: JsonObject): string {
  const text = typeof sub === "string" ? sub : "";
  return isId(text) && text.length <= 60 ? text : hash("sha256", text, "hex").slice(0, 32);
}

function notBegun(): McpxError {
  return new McpxError("ticket_invalid", "this login was not begun in this browser, or took too long", {
    suggestion: "Log in again, with cookies allowed",
  });
}

function keyOf(state: string): string {
  return hash("sha256", state, "base64url");
}

function cookieName({ origin }: HttpRequest): string {
  return `mcpx-login-${new URL(origin).port || "0"}`;
}

/** `Lax`: it comes along when the provider sends the browser back. */
function cookieText(request: HttpRequest, value: string, seconds: number): string {
  const secure = request.origin.startsWith("https:") ? "; Secure" : "";
  return `${cookieName(request)}=${value}; Path=${callbackPath}; Max-Age=${seconds}; HttpOnly; SameSite=Lax${secure}`;
}

function cookieOf(request: HttpRequest): string | undefined {
  const start = `${cookieName(request)}=`;
  const found = (request.headers.cookie ?? "").split(";").flatMap((part) => {
    const text = part.trim();
    return text.startsWith(start) ? [text.slice(start.length)] : [];
  });
  return found.length === 1 ? found[0] : undefined;
}

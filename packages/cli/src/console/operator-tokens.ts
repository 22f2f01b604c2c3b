// Tokens for the person who is logged in: one for the rooms, which the page holds in memory for minutes, and one for
// administration, which never leaves this process. They end with the session. Who has logged in by a token has that
// very token, and in rooms no more than it opens.
import { type Clock, type Identity, mayEnter, type Principal, type TokenClaims } from "@mcpx/host";
import { isId, type JsonObject, levels, McpxError } from "@mcpx/protocol";
import type { Session } from "./sessions.ts";
import type { TokenLogins } from "./token-logins.ts";

export interface OperatorTokens {
  /** For one page: two pages are two members of a room. */
  room(session: Session, tab: string): Promise<JsonObject>;
  admin(session: Session): Promise<string>;
  principal(session: Session): Promise<Principal>;
  /** All of the session's. */
  revoke(session: Session): Promise<void>;
  /** Those of every session that is over, without its being asked. */
  sweep(): Promise<void>;
}

const ttlMs = 10 * 60_000;
/** So long before its end a token is not given out again. */
const spareMs = 60_000;
/** Of one session, and sessions that have any. When there are so many, nobody gets another: none is forgotten alive. */
const heldMax = 200;

interface Held {
  session: Session;
  admin: Promise<{ token: string; until: number }> | undefined;
  /** When each has ended by itself, ms since 1970. */
  jtis: Map<string, number>;
  /** Tokens that are being made at the moment. */
  minting: number;
  isOver: boolean;
}

export interface OperatorTokensOptions {
  identity: Pick<Identity, "tokens" | "revocations">;
  clock: Pick<Clock, "now">;
  user: string;
  /** Whether the session has ended, however that was. */
  isOver(session: Session): boolean;
  logins: Pick<TokenLogins, "find">;
}

export function createOperatorTokens(options: OperatorTokensOptions): OperatorTokens {
  const { identity, clock, user } = options;
  const sessions = new Map<string, Held>();
  const { tokens, revocations } = identity;
  const forgetEnded = () => {
    for (const [id, { jtis, minting }] of sessions) {
      for (const [jti, endsAt] of jtis) if (endsAt <= clock.now()) jtis.delete(jti);
      if (jtis.size + minting === 0) sessions.delete(id);
    }
  };
  const heldBy = (session: Session): Held => {
    const known = sessions.get(session.id);
    if (known !== undefined) return known;
    if (sessions.size >= heldMax) forgetEnded();
    if (sessions.size >= heldMax) throw tooMany();
    const held = { session, admin: undefined, jtis: new Map(), minting: 0, isOver: false };
    sessions.set(session.id, held);
    return held;
  };
  const mint = async (held: Held, claims: TokenClaims) => {
    if (held.jtis.size + held.minting >= heldMax) forgetEnded();
    if (held.jtis.size + held.minting >= heldMax) throw tooMany();
    held.minting += 1;
    const { token, jti } = await tokens.mint(claims, { ttlMs }).finally(() => {
      held.minting -= 1;
    });
    // A person who has logged out in the meantime gets none.
    if (held.isOver || options.isOver(held.session)) {
      await revocations.revoke(jti);
      throw new McpxError("unauthorised", "this login at the console has ended");
    }
    held.jtis.set(jti, clock.now() + ttlMs);
    return token;
  };
  const mintAdmin = async (held: Held) => {
    const until = clock.now() + ttlMs - spareMs;
    const claims = { sub: `console:${user}`, topics: ["**"], tools: ["**"], admin: true } as const;
    return { token: await mint(held, claims), until };
  };
  const loginOf = ({ token = "" }: Session) => {
    const login = options.logins.find(token);
    if (login !== undefined) return login;
    throw new McpxError("unauthorised", "the token of this login is no longer valid");
  };
  const admin: OperatorTokens["admin"] = async (session) => {
    if (!session.isLocal) return loginOf(session).token;
    const held = heldBy(session);
    const known = await held.admin?.catch(() => undefined);
    if (known !== undefined && known.until > clock.now()) return known.token;
    held.admin = mintAdmin(held);
    return (await held.admin).token;
  };
  const revoke = async (session: Session) => {
    const held = sessions.get(session.id);
    if (held === undefined) return;
    held.isOver = true;
    sessions.delete(session.id);
    await Promise.all([...held.jtis.keys()].map((jti) => revocations.revoke(jti)));
  };
  return {
    admin,
    principal: async (session) => await tokens.verify(await admin(session)),
    async room(session, tab) {
      const claims = session.isLocal ? ownClaims(user, tab) : claimsOf(loginOf(session).principal);
      const { sub: id } = claims;
      const token = await mint(heldBy(session), claims);
      return { token, id, expiresAt: new Date(clock.now() + ttlMs).toISOString() };
    },
    revoke,
    async sweep() {
      const over = [...sessions.values()].filter(({ session }) => options.isOver(session));
      await Promise.all(over.map(({ session }) => revoke(session)));
    },
  };
}

function ownClaims(user: string, tab: string): TokenClaims {
  return { sub: `${user}@console.${tab}`, topics: ["**"], level: "full", kind: "human", name: user };
}

/** What the token opens in rooms, as the same participant; what its issuer may not grant is left out. */
function claimsOf(principal: Principal): TokenClaims {
  const { id, topics, level, levelMax, kind, name, key } = principal;
  if (id === undefined) throw new McpxError("admin_only", "the token of this login names no participant");
  const { topicBounds } = principal;
  const granted = topics.filter((glob) => topicBounds?.includes(glob) ?? true);
  const named = topics.filter((glob) => isId(glob) && mayEnter(principal, glob));
  const lowest = levels.find((one) => one === level || one === levelMax);
  return {
    sub: id,
    topics: [...new Set([...granted, ...named])],
    // Where it says none, what the configuration says of its id holds, as it does for the token itself.
    level: level === undefined && levelMax === "full" ? undefined : lowest,
    kind,
    name,
    ...(key && { cnf: { jwk: key } }),
  };
}

function tooMany(): McpxError {
  return new McpxError("rate_limited", "too many tokens of this console are alive", {
    retryAfterMs: spareMs,
  });
}

// Tokens for whoever is logged in: one for the rooms, which the page holds in memory for minutes, and one for
// administration, which never leaves this process. They end with the session.
import type { Clock, Identity, Principal } from "@mcpx/host";
import type { JsonObject } from "@mcpx/protocol";
import type { Session } from "./sessions.ts";

export interface OperatorTokens {
  /** For one page: two pages are two members of a room. */
  room(session: Session, tab: string): Promise<JsonObject>;
  admin(session: Session): Promise<string>;
  principal(session: Session): Promise<Principal>;
  /** All of the session's. */
  revoke(session: Session): void;
  /** Those of every session that is over, without its being asked. */
  sweep(isOver: (session: Session) => boolean): void;
}

const ttlMs = 10 * 60_000;
/** So long before its end a token is not given out again. */
const spareMs = 60_000;
/** Of one session; older ones have ended. */
const heldMax = 200;

interface Held {
  session: Session;
  admin: Promise<{ token: string; until: number }> | undefined;
  jtis: string[];
  isOver: boolean;
}

export interface OperatorTokensOptions {
  identity: Pick<Identity, "tokens" | "revocations">;
  clock: Pick<Clock, "now">;
  user: string;
}

export function createOperatorTokens({ identity, clock, user }: OperatorTokensOptions): OperatorTokens {
  const sessions = new Map<string, Held>();
  const { tokens, revocations } = identity;
  const heldBy = (session: Session): Held => {
    const held = sessions.get(session.id) ?? { session, admin: undefined, jtis: [], isOver: false };
    sessions.set(session.id, held);
    const [oldest] = sessions.keys();
    if (sessions.size > heldMax && oldest !== undefined) sessions.delete(oldest);
    return held;
  };
  const keep = (held: Held, jti: string) => {
    // Whoever has logged out while it was made has none.
    if (held.isOver) revocations.revoke(jti);
    held.jtis.push(jti);
    if (held.jtis.length > heldMax) held.jtis.shift();
  };
  const mintAdmin = async (held: Held) => {
    const until = clock.now() + ttlMs - spareMs;
    const claims = { sub: `console:${user}`, topics: ["**"], tools: ["**"], admin: true } as const;
    const { token, jti } = await tokens.mint(claims, { ttlMs });
    keep(held, jti);
    return { token, until };
  };
  const admin: OperatorTokens["admin"] = async (session) => {
    const held = heldBy(session);
    const known = await held.admin?.catch(() => undefined);
    if (known !== undefined && known.until > clock.now()) return known.token;
    held.admin = mintAdmin(held);
    return (await held.admin).token;
  };
  const revoke = (session: Session) => {
    const held = heldBy(session);
    held.isOver = true;
    for (const jti of held.jtis) revocations.revoke(jti);
    sessions.delete(session.id);
  };
  return {
    admin,
    principal: async (session) => await tokens.verify(await admin(session)),
    async room(session, tab) {
      const id = `${user}@console.${tab}`;
      const claims = { sub: id, topics: ["**"], level: "full", kind: "human", name: user } as const;
      const held = heldBy(session);
      const { token, jti } = await tokens.mint(claims, { ttlMs });
      keep(held, jti);
      return { token, id, expiresAt: new Date(clock.now() + ttlMs).toISOString() };
    },
    revoke,
    sweep(isOver) {
      for (const { session } of [...sessions.values()]) if (isOver(session)) revoke(session);
    },
  };
}

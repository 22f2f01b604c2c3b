// The legacy sessions of the HTTP endpoint: unguessable ids, each bound to its principal, and bounds on how many there are.
import { randomBytes } from "node:crypto";
import { type Clock, openTo, type Principal } from "@mcpx/host";
import { type Limits, McpxError } from "@mcpx/protocol";
import type { Account } from "../mcp/accounts.ts";
import type { LegacySession } from "./legacy-session.ts";
import type { SessionStreams } from "./session-streams.ts";

export interface HttpSession {
  readonly id: string;
  readonly account: Account;
  /** The address it was opened at; it is nothing at another. */
  readonly profile: string | undefined;
  readonly place: string | undefined;
  readonly core: LegacySession;
  readonly streams: SessionStreams;
  /** Of the latest token. */
  principal: Principal;
  /** Whose token the stream for what belongs to no request was opened with. */
  listener: Principal | undefined;
  usedAt: number;
}

export interface Sessions {
  /** Makes room for one more of this principal; throws `too_many_sessions`. */
  admit(account: Account): void;
  add(session: HttpSession): void;
  /** Throws `session_unknown`, also for one of somebody else. */
  find(id: string, account: Account, at: Pick<HttpSession, "profile" | "place">): HttpSession;
  end(session: HttpSession): void;
  all(): Iterable<HttpSession>;
  /** Ends those nobody uses. */
  sweep(): void;
}

type SessionLimits = Pick<Limits, "mcpSessionsMax" | "mcpSessionsPerPrincipalMax" | "mcpSessionIdleMs">;

export function newSessionId(): string {
  return randomBytes(32).toString("base64url");
}

export function createSessions({ clock, limits }: { clock: Clock; limits: SessionLimits }): Sessions {
  const sessions = new Map<string, HttpSession>();

  function end(session: HttpSession): void {
    if (!sessions.delete(session.id)) return;
    session.account.sessions -= 1;
    session.streams.close();
    session.core.close();
  }

  /** A client that crashed never said goodbye; its principal's next one takes the place. */
  function longestIdle(account: Account): HttpSession | undefined {
    return [...sessions.values()]
      .filter((session) => session.account.key === account.key && !isInUse(session))
      .sort((a, b) => a.usedAt - b.usedAt)[0];
  }

  return {
    admit(account) {
      if (account.sessions >= limits.mcpSessionsPerPrincipalMax) {
        const idle = longestIdle(account);
        if (idle === undefined) throw new McpxError("too_many_sessions");
        end(idle);
      }
      if (sessions.size >= openTo(limits.mcpSessionsMax, account.isAdmin))
        throw new McpxError("too_many_sessions");
    },
    add(session) {
      sessions.set(session.id, session);
      session.account.sessions += 1;
    },
    find(id, account, { profile, place }) {
      const session = sessions.get(id);
      const isHere = session?.profile === profile && session?.place === place;
      if (session?.account.key !== account.key || !isHere) throw new McpxError("session_unknown");
      session.usedAt = clock.monotonic();
      return session;
    },
    end,
    all: () => sessions.values(),
    sweep() {
      const now = clock.monotonic();
      for (const session of sessions.values()) {
        if (isInUse(session)) session.usedAt = now;
        else if (now - session.usedAt >= limits.mcpSessionIdleMs) end(session);
      }
    },
  };
}

function isInUse({ core, streams }: HttpSession): boolean {
  return core.isBusy || streams.isAttached;
}

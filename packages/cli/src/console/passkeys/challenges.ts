// Challenges for logins. Nothing is kept of one that was only asked for, so that nobody who asks for many takes away
// those of others: the ticket itself says, signed, what it is for and until when. Those that were tried are remembered.
import { createHmac, hash, randomBytes, timingSafeEqual } from "node:crypto";
import type { Clock } from "@mcpx/host";
import { canonicalJson, McpxError } from "@mcpx/protocol";

export interface Challenges {
  make(): { ticket: string; challenge: string };
  /** The ticket's challenge, once. `undefined` where it was used, is too old, or was not made here. */
  take(ticket: unknown): string | undefined;
}

const ticketShape = /^(([A-Za-z0-9_-]{43})\.(\d{1,15}))\.([A-Za-z0-9_-]{43})$/;

/** When `triedMax` were tried within the time of one, nobody logs in so for a moment: none may be tried again. */
export function createChallenges(
  clock: Pick<Clock, "monotonic">,
  { lifeMs, triedMax }: { lifeMs: number; triedMax: number },
): Challenges {
  // Of this process: what was open before a restart is not.
  const secret = randomBytes(32);
  const sign = (text: string) => createHmac("sha256", secret).update(text).digest("base64url");
  // Each with its end.
  const tried = new Map<string, number>();
  const remember = (nonce: string, endsAt: number) => {
    const now = clock.monotonic();
    if (tried.size >= triedMax) for (const [old, end] of tried) if (end <= now) tried.delete(old);
    if (tried.size >= triedMax) {
      throw new McpxError("rate_limited", "too many attempts to log in", { retryAfterMs: lifeMs });
    }
    tried.set(nonce, endsAt);
  };
  return {
    make() {
      const nonce = randomBytes(32).toString("base64url");
      const said = `${nonce}.${Math.ceil(clock.monotonic() + lifeMs)}`;
      return { ticket: `${said}.${sign(said)}`, challenge: challengeOf(nonce) };
    },
    take(ticket) {
      const [, said = "", nonce = "", end = "", mac = ""] =
        ticketShape.exec(typeof ticket === "string" ? ticket.slice(0, 128) : "") ?? [];
      const endsAt = Number(end);
      if (!isSame(mac, sign(said)) || endsAt <= clock.monotonic() || tried.has(nonce)) return undefined;
      remember(nonce, endsAt);
      return challengeOf(nonce);
    },
  };
}

/** No statement about a gate has this field: what lets somebody in never passes for a decision. */
function challengeOf(nonce: string): string {
  return hash("sha256", canonicalJson({ login: nonce }), "base64url");
}

function isSame(given: string, wanted: string): boolean {
  return given.length === wanted.length && timingSafeEqual(Buffer.from(given), Buffer.from(wanted));
}

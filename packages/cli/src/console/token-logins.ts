// Tokens that have made a link to the console: a person who logs in by it may do what that very token may do, as long
// as it may. Only in memory: after a restart such a login is over.
import { hash } from "node:crypto";
import type { Clock, Identity, Principal } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";

interface HeldToken {
  token: string;
  principal: Principal;
}

export interface TokenLogins {
  /** The name it has in sessions. Throws `rate_limited` where too many are held. */
  hold(token: string, principal: Principal): string;
  /** `undefined` where it is held no more, was revoked or has ended. */
  find(name: string): HeldToken | undefined;
}

const heldMax = 200;

export function createTokenLogins(
  { revocations }: Pick<Identity, "revocations">,
  clock: Pick<Clock, "now">,
): TokenLogins {
  const held = new Map<string, HeldToken>();
  const isAlive = ({ principal: { expiresAt, jti } }: HeldToken) =>
    expiresAt > clock.now() && !revocations.isRevoked(jti);
  return {
    hold(token, principal) {
      for (const [name, one] of held) if (!isAlive(one)) held.delete(name);
      const name = hash("sha256", token, "base64url");
      if (held.size >= heldMax && !held.has(name)) {
        throw new McpxError("rate_limited", "too many tokens have made links to the console", {
          retryAfterMs: 60_000,
        });
      }
      held.set(name, { token, principal });
      return name;
    },
    find(name) {
      const one = held.get(name);
      return one !== undefined && isAlive(one) ? one : undefined;
    },
  };
}

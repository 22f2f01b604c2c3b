// Bytes that are kept in memory for principals: arguments of calls that wait, answers nobody has read, subscriptions.
// One book for all of them, so that no single principal, and no sum of small things, can fill the heap. Pure.
import { type Limits, McpxError } from "@mcpx/protocol";

export interface ByteLedger {
  /** Throws `rate_limited` where this principal has no room for that much. */
  hold(principal: LedgerPrincipal, bytes: number): Hold;
  /** Of all principals. */
  readonly heldBytes: number;
}

export interface LedgerPrincipal {
  /** The same for every token and connection of one principal, and for nobody else. */
  readonly key: string;
  /** May use what is kept free for admins. */
  readonly isAdmin?: boolean | undefined;
}

export interface Hold {
  readonly bytes: number;
  /** From now on that much; throws `rate_limited`, and holds what it held, where there is no room. */
  resize(bytes: number): void;
  /** More than once does nothing. */
  release(): void;
}

/** A twentieth is for admins alone: somebody must be able to end what takes the rest. */
const reserveShare = 0.05;

/** How many of so many somebody may take. */
export function openTo(max: number, isAdmin: boolean): number {
  return isAdmin ? max : max - Math.floor(max * reserveShare);
}

const retryAfterMs = 1_000;

export function createByteLedger(
  limits: Pick<Limits, "heldBytesMax" | "heldBytesPerPrincipalMax">,
): ByteLedger {
  const { heldBytesMax, heldBytesPerPrincipalMax } = limits;
  const byKey = new Map<string, number>();
  let all = 0;

  /** What one principal may hold: its share, and never more than is left free for others when it has it. */
  function check({ key, isAdmin = false }: LedgerPrincipal, more: number): void {
    const own = (byKey.get(key) ?? 0) + more;
    const free = openTo(heldBytesMax, isAdmin) - all - more;
    if (own > heldBytesPerPrincipalMax) {
      const detail = `your waiting calls and answers would take ${own} bytes of memory; at most ${heldBytesPerPrincipalMax} are allowed`;
      throw new McpxError("rate_limited", detail, {
        retryAfterMs,
        suggestion: "Wait until some of your calls have ended, read their answers, or send less at once",
      });
    }
    if (free < (isAdmin ? 0 : own)) {
      throw new McpxError(
        "rate_limited",
        "the waiting calls and answers of all callers take nearly all the memory that is set aside for them",
        {
          retryAfterMs,
          suggestion: "Wait for retry_after_ms; an operator can raise limits.heldBytesMax",
        },
      );
    }
  }

  function change(key: string, bytes: number): void {
    const own = (byKey.get(key) ?? 0) + bytes;
    all += bytes;
    if (own === 0) byKey.delete(key);
    else byKey.set(key, own);
  }

  return {
    hold(principal, bytes) {
      const { key } = principal;
      let held = 0;
      const resize = (next: number) => {
        if (next > held) check(principal, next - held);
        change(key, next - held);
        held = next;
      };
      resize(bytes);
      return {
        get bytes() {
          return held;
        },
        resize,
        release: () => resize(0),
      };
    },
    get heldBytes() {
      return all;
    },
  };
}

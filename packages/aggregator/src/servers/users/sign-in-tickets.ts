// Addresses at which one user begins to sign in to one server: nobody guesses them, they are good for one sign-in, and
// for ten minutes. Only in memory.
import { hash, randomBytes } from "node:crypto";
import type { Clock } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";
import type { Person } from "./person.ts";
import type { Personal } from "./sign-in-state.ts";
import { userKey } from "./user-key.ts";

export interface SignInTicket {
  /** The server's name. */
  readonly server: string;
  readonly personal: Personal;
  readonly person: Person;
}

export interface SignInTickets {
  /** The one that is open for this user and server while it is fresh, else a new one. Throws `rate_limited`. */
  give(ticket: SignInTicket): string;
  /** Throws `ticket_invalid`. */
  find(text: string | undefined): SignInTicket;
  /** Who takes it has it alone; `giveBack` where nothing could be begun with it. */
  take(text: string | undefined): { ticket: SignInTicket; giveBack(): void };
}

interface Open extends SignInTicket {
  readonly text: string;
  /** Monotonic ms. */
  readonly endsAt: number;
  attempts: number;
}

const lifeMs = 600_000;
/** A user who is shown an address has at least this long to open it. */
const freshMs = 300_000;
const ticketsMax = 10_000;
const attemptsMax = 5;

export function createSignInTickets(clock: Clock): SignInTickets {
  // Both by hashes: how long a look takes tells nothing of a ticket.
  const open = new Map<string, Open>();
  const latest = new Map<string, Open>();

  const drop = (one: Open) => {
    open.delete(hashOf(one.text));
    if (latest.get(keyOf(one)) === one) latest.delete(keyOf(one));
  };
  const dropEnded = () => {
    // In the order of their ends, but for those that were given back: these go later.
    for (const one of open.values()) {
      if (one.endsAt > clock.monotonic()) return;
      drop(one);
    }
  };
  const lookUp = (text = ""): Open => {
    const one = open.get(hashOf(text.slice(0, 128)));
    if (one !== undefined && one.endsAt > clock.monotonic()) return one;
    throw new McpxError("ticket_invalid", "this address was used or is too old", {
      suggestion: "Ask for a new one: call the server's sign_in tool again",
    });
  };

  return {
    give(ticket) {
      const now = clock.monotonic();
      const known = latest.get(keyOf(ticket));
      const isGood = known?.personal === ticket.personal && known.person.issuer === ticket.person.issuer;
      if (known !== undefined && isGood && known.endsAt - now > freshMs) return known.text;
      dropEnded();
      if (open.size >= ticketsMax) {
        throw new McpxError("rate_limited", "too many sign-ins are open", { retryAfterMs: lifeMs });
      }
      const one: Open = {
        ...ticket,
        text: randomBytes(32).toString("base64url"),
        endsAt: now + lifeMs,
        attempts: 0,
      };
      open.set(hashOf(one.text), one);
      latest.set(keyOf(one), one);
      return one.text;
    },
    find: lookUp,
    take(text) {
      const one = lookUp(text);
      drop(one);
      one.attempts += 1;
      return {
        ticket: one,
        giveBack() {
          if (one.attempts < attemptsMax && open.size < ticketsMax) open.set(hashOf(one.text), one);
        },
      };
    },
  };
}

function keyOf({ server, person }: SignInTicket): string {
  return userKey(server, person.name);
}

function hashOf(text: string): string {
  return hash("sha256", text, "base64url");
}

// Tickets: what a browser shows in a WebSocket's address instead of its token. Single use, short, only in memory.
// [X0-5.1-1]
import { createHash, randomBytes } from "node:crypto";
import { McpxError } from "@mcpx/protocol";
import type { Clock } from "../clock.ts";
import { mayEnter, type Principal } from "../principal.ts";

export interface Ticket {
  ticket: string;
  /** Ms since 1970. */
  expiresAt: number;
}

export interface Tickets {
  /** Throws `topic_forbidden` where the principal's token does not cover the topic. */
  issue(principal: Principal, topic: string): Ticket;
  /** Gives back the principal, once. Throws `ticket_invalid`, or what became of the token meanwhile. */
  redeem(ticket: string, topic: string): Principal;
}

export interface TicketsOptions {
  clock: Clock;
  isRevoked(jti: string): boolean;
  ticketMs: number;
}

interface Held {
  principal: Principal;
  topic: string;
  /** Monotonic. */
  endsAt: number;
}

const ticketsMax = 10_000;
const ticketsOfOneTokenMax = 32;

export function createTickets({ clock, isRevoked, ticketMs }: TicketsOptions): Tickets {
  // Keyed by hash: memory holds nothing that could be shown at the endpoint, and since a lookup compares hashes of
  // what the stranger sent, its timing tells nothing about the tickets. All live equally long, so the map's
  // order is the order of their ends.
  const held = new Map<string, Held>();

  const countOf = new Map<string, number>();

  function drop(hash: string, { principal: { tokenHash } }: Held): void {
    held.delete(hash);
    const left = (countOf.get(tokenHash) ?? 1) - 1;
    if (left === 0) countOf.delete(tokenHash);
    else countOf.set(tokenHash, left);
  }

  function dropEnded(): void {
    for (const [hash, one] of held) {
      if (one.endsAt > clock.monotonic()) return;
      drop(hash, one);
    }
  }

  return {
    issue(principal, topic) {
      if (!mayEnter(principal, topic)) throw new McpxError("topic_forbidden");
      dropEnded();
      const ofThisToken = countOf.get(principal.tokenHash) ?? 0;
      if (ofThisToken >= ticketsOfOneTokenMax || held.size >= ticketsMax) {
        throw new McpxError("rate_limited", "too many tickets are waiting", { retryAfterMs: ticketMs });
      }
      const ticket = randomBytes(32).toString("base64url");
      held.set(hashOf(ticket), { principal, topic, endsAt: clock.monotonic() + ticketMs });
      countOf.set(principal.tokenHash, ofThisToken + 1);
      return { ticket, expiresAt: clock.now() + ticketMs };
    },
    redeem(ticket, topic) {
      dropEnded();
      const hash = hashOf(ticket.slice(0, 128));
      const found = held.get(hash);
      if (found === undefined) throw new McpxError("ticket_invalid");
      // Spent by being shown, also at the wrong endpoint.
      drop(hash, found);
      if (found.topic !== topic) throw new McpxError("ticket_invalid");
      const { principal } = found;
      if (principal.expiresAt <= clock.now()) throw new McpxError("token_expired");
      if (isRevoked(principal.jti)) throw new McpxError("token_revoked");
      return principal;
    },
  };
}

function hashOf(ticket: string): string {
  return createHash("sha256").update(ticket).digest("base64url");
}

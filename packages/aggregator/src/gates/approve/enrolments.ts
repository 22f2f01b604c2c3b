// Invitations to become an approver: one name, one passkey, ten minutes. Only in memory, and only as hashes: a program
// that reads it can enrol nobody.
import { hash, randomBytes } from "node:crypto";
import type { Clock } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";

interface Enrolment {
  readonly name: string;
  readonly invitedBy: string;
  /** What the new passkey has to sign; another each time it is asked for. */
  challenge: string | undefined;
  attempts: number;
}

export interface Enrolments {
  /** Throws `rate_limited` where too many are open. */
  invite(name: string, invitedBy: string): { ticket: string; expiresAt: number };
  /** Throws `ticket_invalid`. */
  find(ticket: string | undefined): Enrolment;
  /** Who takes it has it alone; `giveBack` where nothing came of it. */
  take(ticket: string | undefined): { enrolment: Enrolment; giveBack(): void };
}

const lifeMs = 600_000;
const enrolmentsMax = 100;
const attemptsMax = 5;

export function createEnrolments(clock: Clock): Enrolments {
  const open = new Map<string, Enrolment & { endsAt: number }>();

  const dropEnded = () => {
    for (const [key, { endsAt }] of open) if (endsAt <= clock.monotonic()) open.delete(key);
  };
  const lookUp = (ticket = "") => {
    dropEnded();
    const key = hash("sha256", ticket.slice(0, 128), "base64url");
    const enrolment = open.get(key);
    if (enrolment === undefined) {
      const suggestion = "Ask for a new link";
      throw new McpxError("ticket_invalid", "this link was used or is too old", { suggestion });
    }
    return { key, enrolment };
  };

  return {
    invite(name, invitedBy) {
      dropEnded();
      if (open.size >= enrolmentsMax) {
        throw new McpxError("rate_limited", "too many invitations are open", { retryAfterMs: lifeMs });
      }
      const ticket = randomBytes(32).toString("base64url");
      const endsAt = clock.monotonic() + lifeMs;
      open.set(hash("sha256", ticket, "base64url"), {
        name,
        invitedBy,
        challenge: undefined,
        attempts: 0,
        endsAt,
      });
      return { ticket, expiresAt: clock.now() + lifeMs };
    },
    find: (ticket) => lookUp(ticket).enrolment,
    take(ticket) {
      const { key, enrolment } = lookUp(ticket);
      open.delete(key);
      enrolment.attempts += 1;
      return {
        enrolment,
        giveBack() {
          enrolment.challenge = undefined;
          if (enrolment.attempts < attemptsMax) open.set(key, enrolment);
        },
      };
    },
  };
}

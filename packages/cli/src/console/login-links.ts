// Links that let one browser in, once, within minutes. Only in memory, and only as hashes: a program that reads the
// memory can open nothing.
import { hash, randomBytes } from "node:crypto";
import type { Clock } from "@mcpx/host";
import { McpxError } from "@mcpx/protocol";
import type { LoginOrigin } from "./sessions.ts";

export interface LoginLinks {
  /** The secret part of a new link. */
  make(origin: LoginOrigin): string;
  /** Who has made it. Throws `ticket_invalid` where it was used, is too old, or never was. */
  use(ticket: string | undefined): LoginOrigin;
}

const lifeMs = 600_000;
/**
 * Of one token, or of all who are at the machine; the oldest goes first. So no token takes away the links of others.
 */
const linksMax = 32;

export function createLoginLinks(clock: Pick<Clock, "monotonic">): LoginLinks {
  const open = new Map<string, { endsAt: number; origin: LoginOrigin }>();
  return {
    make(origin) {
      const now = clock.monotonic();
      for (const [key, { endsAt }] of open) if (endsAt <= now) open.delete(key);
      const own = [...open].filter(([, link]) => link.origin.token === origin.token);
      const [oldest] = own;
      if (own.length >= linksMax && oldest !== undefined) open.delete(oldest[0]);
      const ticket = randomBytes(24).toString("base64url");
      open.set(hashOf(ticket), { endsAt: now + lifeMs, origin });
      return ticket;
    },
    use(ticket = "") {
      const key = hashOf(ticket.slice(0, 128));
      const link = open.get(key);
      // Spent by being shown.
      open.delete(key);
      if (link !== undefined && link.endsAt > clock.monotonic()) return link.origin;
      const suggestion = "Get a new link with `mcpx console`";
      throw new McpxError("ticket_invalid", "this link was used or is too old", { suggestion });
    },
  };
}

function hashOf(ticket: string): string {
  return hash("sha256", ticket, "base64url");
}

// Grants that were asked for and wait for an approver's signature: in memory, few, for a few minutes, each good for one
// signature. Pure state; the clock is an argument.
import { type GrantTerms, McpxError, quoteShort } from "@mcpx/protocol";
import type { Grant } from "./grants.ts";

export interface GrantOffer {
  readonly terms: GrantTerms;
  /** As it will count; its time begins when it is signed. */
  readonly grant: Omit<Grant, "grantedBy" | "expiresAt">;
  readonly ttlMs: number | undefined;
  /** Keys of who it is for, as far as they are known. */
  readonly thumbprints: readonly string[];
  /** Monotonic ms. */
  readonly endsAt: number;
}

export type GrantOffers = Map<string, GrantOffer>;

export const offerMs = 300_000;
const offersMax = 100;

/** The oldest gives way. */
export function addOffer(offers: GrantOffers, offer: GrantOffer): void {
  const [oldest] = offers.keys();
  if (offers.size >= offersMax && oldest !== undefined) offers.delete(oldest);
  offers.set(offer.terms.grant_id, offer);
}

/** Throws where it is no longer there. */
export function findOffer(offers: GrantOffers, id: string, now: number): GrantOffer {
  const offer = offers.get(id);
  if (offer !== undefined && offer.endsAt > now) return offer;
  throw new McpxError("not_found", `no grant ${quoteShort(id)} waits for a signature`, {
    suggestion: "Request its terms again (POST /admin/grants/terms) and sign them within five minutes",
  });
}

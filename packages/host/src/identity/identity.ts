// Identity in one piece: keys, tokens, issuers, revocations and tickets over one state database.
import { createHmac, randomBytes, randomUUID } from "node:crypto";
import { defaultLimits } from "@mcpx/protocol";
import type { Clock } from "../clock.ts";
import type { Logger } from "../logging/log.ts";
import { type AuthorityProofs, createAuthorityProofs } from "./authority-proofs.ts";
import type { IdentityStore } from "./identity-store.ts";
import { createIssuers, type IssuerConfig } from "./issuers.ts";
import { fromStore } from "./jws.ts";
import { createRevocations, type Revocations } from "./revocations.ts";
import { createSigningKeys, type SigningKeys } from "./signing-keys.ts";
import { createTickets, type Tickets } from "./tickets.ts";
import { createTokens, type Tokens } from "./tokens.ts";

export interface Identity extends AuthorityProofs {
  /** `iss` and `aud` of this gateway's tokens; as old as the store. */
  readonly gatewayId: string;
  readonly keys: SigningKeys;
  readonly tokens: Tokens;
  readonly revocations: Revocations;
  readonly tickets: Tickets;
  /** Whether a token was ever made or seen here that names this id: nobody else may then choose it. */
  isOwned(id: string): Promise<boolean>;
  /** 32 bytes known to this store alone, others for every purpose. */
  secret(purpose: string): Uint8Array;
  /** Stops listening for other processes. The store stays open. */
  close(): void;
}

export interface IdentityOptions {
  store: IdentityStore;
  clock: Clock;
  log: Logger;
  /** Leave it out (rather than empty) where the configuration was not read, as in a minting CLI. */
  issuers?: readonly IssuerConfig[] | undefined;
  /** The longest life of any token; 365 days unless given. */
  ttlMsMax?: number | undefined;
  ticketMs?: number | undefined;
}

const yearMs = 365 * 86_400_000;

/** What all secrets of a store come from. */
export const newRootSecret = (): string => randomBytes(32).toString("base64url");

export async function createIdentity(options: IdentityOptions): Promise<Identity> {
  const { store, clock, log, ttlMsMax = yearMs, ticketMs = defaultLimits.ticketMs } = options;
  const gatewayId = await store.gatewayId(randomUUID);
  const rootSecret = await store.rootSecret(newRootSecret);
  const root = Buffer.from(rootSecret, "base64url");
  const issuers = createIssuers(options.issuers ?? [], { clock, gatewayId });
  if (options.issuers !== undefined) await store.forgetOwners([gatewayId, ...issuers.keys()]);
  const keys = createSigningKeys({ store, clock });
  const revocations = await createRevocations({ store, clock, log, ttlMsMax });
  const parts = { store, clock, gatewayId, keys, revocations, issuers };
  return {
    gatewayId,
    keys,
    tokens: createTokens({ ...parts, ttlMsMax }),
    ...createAuthorityProofs(parts),
    revocations,
    tickets: createTickets({ clock, isRevoked: revocations.isRevoked, ticketMs }),
    isOwned: (id) => fromStore(() => store.hasOwner(id)),
    secret: (purpose) => createHmac("sha256", root).update(purpose).digest(),
    close: revocations.close,
  };
}

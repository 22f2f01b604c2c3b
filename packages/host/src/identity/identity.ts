// Identity in one piece: keys, tokens, issuers, revocations and tickets over one state database.
import { createHmac, randomBytes, randomUUID } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { defaultLimits } from "@mcpx/protocol";
import type { Clock } from "../clock.ts";
import type { Logger } from "../logging/log.ts";
import { type AuthorityProofs, createAuthorityProofs } from "./authority-proofs.ts";
import { forgetOwners, hasOwner } from "./id-owners.ts";
import { createIssuers, type IssuerConfig } from "./issuers.ts";
import { fromStore } from "./jws.ts";
import { createRevocations, type Revocations } from "./revocations.ts";
import { createSigningKeys, type SigningKeys } from "./signing-keys.ts";
import { createTickets, type Tickets } from "./tickets.ts";
import { createTokens, type Tokens } from "./tokens.ts";

export interface Identity extends AuthorityProofs {
  /** `iss` and `aud` of this gateway's tokens; as old as the database. */
  readonly gatewayId: string;
  readonly keys: SigningKeys;
  readonly tokens: Tokens;
  readonly revocations: Revocations;
  readonly tickets: Tickets;
  /** Whether a token was ever made or seen here that names this id: nobody else may then choose it. */
  isOwned(id: string): boolean;
  /** 32 bytes known to this data directory alone, others for every purpose. */
  secret(purpose: string): Uint8Array;
  /** Stops listening for other processes. The database stays open. */
  close(): void;
}

export interface IdentityOptions {
  /** From `openState`. */
  db: DatabaseSync;
  clock: Clock;
  log: Logger;
  /** Leave it out (rather than empty) where the configuration was not read, as in a minting CLI. */
  issuers?: readonly IssuerConfig[] | undefined;
  /** The longest life of any token; 365 days unless given. */
  ttlMsMax?: number | undefined;
  ticketMs?: number | undefined;
}

const yearMs = 365 * 86_400_000;

export function createIdentity(options: IdentityOptions): Identity {
  const { db, clock, log, ttlMsMax = yearMs, ticketMs = defaultLimits.ticketMs } = options;
  const gatewayId = readGatewayId(db);
  const issuers = createIssuers(options.issuers ?? [], { clock, gatewayId });
  if (options.issuers !== undefined) forgetOwners(db, [gatewayId, ...issuers.keys()]);
  const keys = createSigningKeys({ db, clock });
  const revocations = createRevocations({ db, clock, log, ttlMsMax });
  const parts = { db, clock, gatewayId, keys, revocations, issuers };
  return {
    gatewayId,
    keys,
    tokens: createTokens({ ...parts, ttlMsMax }),
    ...createAuthorityProofs(parts),
    revocations,
    tickets: createTickets({ clock, isRevoked: revocations.isRevoked, ticketMs }),
    isOwned: (id) => fromStore(() => hasOwner(db, id)),
    secret: (purpose) => createHmac("sha256", rootSecret(db)).update(purpose).digest(),
    close: revocations.close,
  };
}

function rootSecret(db: DatabaseSync): Buffer {
  const made = () => randomBytes(32).toString("base64url");
  return Buffer.from(readSetting(db, "secret", made), "base64url");
}

function readGatewayId(db: DatabaseSync): string {
  return readSetting(db, "gateway_id", randomUUID);
}

/** Made once, whichever process comes first. */
function readSetting(db: DatabaseSync, name: string, make: () => string): string {
  const read = db.prepare("SELECT value FROM host_settings WHERE name = ?");
  const known = read.get(name);
  if (known !== undefined) return String(known.value);
  db.prepare("INSERT INTO host_settings (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING").run(
    name,
    make(),
  );
  return String(read.get(name)?.value);
}

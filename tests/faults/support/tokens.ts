// Tokens for a data directory, minted while no server needs to run; nothing stays open.
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import {
  createIdentity,
  createLogger,
  createSqliteIdentityStore,
  openState,
  systemClock,
  type TokenClaims,
} from "@mcpx/host";

export async function mintTokens(dataDir: string, claims: readonly TokenClaims[]): Promise<string[]> {
  mkdirSync(dataDir, { recursive: true });
  const db = openState(join(dataDir, "state.db"));
  const identity = await createIdentity({
    store: createSqliteIdentityStore(db),
    clock: systemClock,
    log: createLogger({ level: "silent" }),
  });
  const minted: string[] = [];
  for (const each of claims) minted.push((await identity.tokens.mint(each, { ttlMs: 86_400_000 })).token);
  identity.close();
  db.close();
  return minted;
}

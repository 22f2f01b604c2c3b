// An approver allows calls beforehand: asks for what there is to sign, and signs exactly that.
import type { KeyObject } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type PublicJwk, statementKey, thumbprint } from "@mcpx/host";
import { type GrantTerms, signGrant } from "@mcpx/protocol";
import type { Seen } from "../../support/test-client.ts";

export interface GrantKey {
  jwk: PublicJwk;
  privateKey: KeyObject;
}

type Ask = (path: string, body: object) => Promise<{ status: number; body: Seen }>;

/** `ask`: POST as somebody at the gateway's machine. */
export async function giveGrant(
  ask: Ask,
  key: GrantKey,
  wish: object,
): Promise<{ status: number; body: Seen }> {
  const { status, body } = await ask("/admin/grants/terms", wish);
  if (status !== 200) return { status, body };
  const terms = body.terms as GrantTerms;
  return ask("/admin/grants", { grant_id: terms.grant_id, proof: await grantProof(terms, key) });
}

export function grantProof(terms: GrantTerms, { jwk, privateKey }: GrantKey): Promise<string> {
  return signGrant(terms, statementKey(privateKey, thumbprint(jwk)));
}

/** As `mcpx key enroll` does it. */
export function enrol(dataDir: string, name: string, { jwk }: Pick<GrantKey, "jwk">): void {
  const dir = join(dataDir, "approvers");
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  writeFileSync(join(dir, `${name}.json`), JSON.stringify({ name, jwk }), { mode: 0o600 });
}

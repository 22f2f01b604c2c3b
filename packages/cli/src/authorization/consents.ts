// What people have allowed clients: revoked by them, by an admin, by the client itself, or because a token or code
// came twice. Then its access tokens are revoked at once, as any other token is.
import type { Audit, Clock, Identity } from "@mcpx/host";
import type { JsonObject } from "@mcpx/protocol";
import type { AuthorizationStore, Consent } from "./store/authorization-store.ts";

export interface ConsentParts {
  store: AuthorizationStore;
  identity: Pick<Identity, "revocations">;
  audit: Audit;
  clock: Pick<Clock, "now">;
}

export interface EndOfConsent {
  by: string;
  /** A word for the record. */
  why: "revoked" | "revoked_by_client" | "token_revoked" | "reused";
}

/** Whether there was one. Durable before it resolves. */
export async function endConsent(
  { store, identity, audit, clock }: ConsentParts,
  id: string,
  { by, why }: EndOfConsent,
): Promise<boolean> {
  const consent = await store.consent(id, clock.now());
  const jtis = await store.endConsent(id);
  if (jtis === undefined) return false;
  for (const jti of jtis) if (!identity.revocations.isRevoked(jti)) await identity.revocations.revoke(jti);
  const detail = { why, tokens: jtis.length, ...(consent !== undefined && clientDetail(consent)) };
  await audit.recordNow({ action: "consent.revoke", actor: by, subject: consent?.participant, detail });
  return true;
}

export function clientDetail({ id, client, clientName }: Consent): JsonObject {
  return { consent: id, client: client.slice(0, 200), clientName };
}

/** As lists show it. */
export function consentFacts(consent: Consent): JsonObject {
  const { id, client, clientName, redirect, account, resource, participant, topics, tools, level } = consent;
  const at = (ms: number) => new Date(ms).toISOString();
  return {
    ...{ id, client, clientName, redirect, account, resource, participant, level },
    topics: [...topics],
    tools: [...tools],
    createdAt: at(consent.createdAt),
    expiresAt: at(consent.expiresAt),
    usedAt: consent.usedAt === undefined ? null : at(consent.usedAt),
  };
}

// Our store as the library wants it: one adapter for each kind of artifact. Secrets are stored as hashes; what is used
// a second time ends the whole consent.
import { hash } from "node:crypto";
import type { JsonObject } from "@mcpx/protocol";
import type { Adapter, AdapterPayload } from "oidc-provider";
import { type ConsentParts, endConsent } from "./consents.ts";
import type { StoredArtifact } from "./store/authorization-store.ts";

/** Clients that have registered and were never allowed anything. */
const clientMs = 86_400_000;

export interface AdapterParts extends ConsentParts {
  /** What the library answers with where something was used before. */
  usedBefore(): Error;
  /** Whether its client is taking it back at this moment. */
  isGivenBack(consent: string): boolean;
}

export function createAdapter(parts: AdapterParts, kind: string): Adapter {
  const { store, clock, usedBefore } = parts;
  const found = (artifact: StoredArtifact | undefined, id?: string): AdapterPayload | undefined => {
    if (artifact === undefined) return undefined;
    const { payload, consumedAt } = artifact;
    const consumed = consumedAt === undefined ? {} : { consumed: Math.ceil(consumedAt / 1_000) };
    const own = kind === "Client" || id === undefined ? {} : { jti: id };
    return { ...payload, ...own, ...consumed } as AdapterPayload;
  };
  return {
    async upsert(id, payload, expiresIn) {
      const lifeMs = expiresIn === undefined ? clientMs : expiresIn * 1_000;
      const { jti: _, ...kept } = JSON.parse(JSON.stringify(payload)) as JsonObject;
      const { grantId, uid } = payload;
      await store.put({
        kind,
        key: keyOf(id),
        payload: kept,
        consent: kind === "Grant" ? id : grantId,
        uid: kind === "Session" ? uid : undefined,
        expiresAt: clock.now() + lifeMs,
      });
    },
    find: async (id) => found(await store.find(kind, keyOf(id), clock.now()), id),
    // Nobody asks for what belongs to a session but its account: its secret is not needed for that.
    findByUid: async (uid) => found(await store.findByUid(kind, uid, clock.now())),
    findByUserCode: async () => undefined,
    async consume(id) {
      if (await store.consume(kind, keyOf(id), clock.now())) return;
      // Somebody else was quicker: one of the two has stolen it.
      const artifact = await store.find(kind, keyOf(id), clock.now());
      if (artifact?.consent !== undefined) await reused(artifact.consent);
      throw usedBefore();
    },
    destroy: (id) => store.remove(kind, keyOf(id)),
    // The library asks for it where a code or refresh token comes again, and where a client revokes one.
    revokeByGrantId: reused,
  };

  async function reused(consent: string): Promise<void> {
    const why = parts.isGivenBack(consent) ? "revoked_by_client" : "reused";
    await endConsent(parts, consent, { by: "authorization", why });
  }
}

export function keyOf(id: string): string {
  return hash("sha256", id, "base64url");
}

/** The name under which the library knows an access token of mcpx: it does not accept JWTs as its own. */
export function nameOfToken(token: string): string {
  return `sha256-${hash("sha256", token, "base64url")}`;
}

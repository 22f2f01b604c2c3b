// The last step of the token endpoint: what the library has issued is exchanged for a token of the gateway's own type,
// with what the person has allowed. So it is listed, revoked and recorded as every other.
import type { Audit, Clock, Identity } from "@mcpx/host";
import { isObject, type JsonObject } from "@mcpx/protocol";
import { keyOf, nameOfToken } from "./adapter.ts";
import { type ConsentParts, clientDetail, endConsent } from "./consents.ts";
import type { Consent } from "./store/authorization-store.ts";

export interface IssueParts extends ConsentParts {
  identity: Pick<Identity, "tokens" | "revocations">;
  audit: Audit;
  clock: Pick<Clock, "now">;
}

const accessMsMax = 3_600_000;
/** Access tokens of one consent that have not ended: a client that asks for more is told to wait. */
const aliveMax = 60;

/** The answer of the token endpoint with our token in it; `undefined` where the consent is over. */
export async function exchangeToken(parts: IssueParts, text: string): Promise<JsonObject | undefined> {
  const answer: unknown = JSON.parse(text);
  if (!isObject(answer) || typeof answer.access_token !== "string")
    throw new Error("no access token was issued");
  const { store, clock } = parts;
  const key = keyOf(answer.access_token);
  const artifact = await store.find("AccessToken", key, clock.now());
  const consent = artifact?.consent === undefined ? undefined : await aliveConsent(parts, artifact.consent);
  if (consent === undefined) return undefined;
  const minted = await mint(parts, consent);
  if (minted === undefined) return undefined;
  const { token, expiresAt } = minted;
  await store.rename("AccessToken", key, keyOf(nameOfToken(token)));
  const seconds = Math.max(1, Math.floor((expiresAt - clock.now()) / 1_000));
  return { ...answer, access_token: token, token_type: "Bearer", expires_in: seconds };
}

/** An admin who revokes a token of a client wants the client out: its consent ends with it. */
async function aliveConsent(parts: ConsentParts, id: string): Promise<Consent | undefined> {
  const { store, identity, clock } = parts;
  const jtis = await store.tokensOf(id, clock.now());
  if (jtis.some((jti) => identity.revocations.isRevoked(jti))) {
    await endConsent(parts, id, { by: "authorization", why: "token_revoked" });
    return undefined;
  }
  return await store.consent(id, clock.now());
}

/** Whether the consent that a refresh token belongs to has as many access tokens as it may. */
export async function isCrowded({ store, clock }: ConsentParts, refreshToken: string): Promise<boolean> {
  const artifact = await store.find("RefreshToken", keyOf(refreshToken), clock.now());
  if (artifact?.consent === undefined) return false;
  return (await store.tokensOf(artifact.consent, clock.now())).length >= aliveMax;
}

async function mint({ identity, store, audit, clock }: IssueParts, consent: Consent) {
  const { id, participant: sub, topics, tools, level, clientName: name, resource } = consent;
  const ttlMs = Math.min(accessMsMax, consent.expiresAt - clock.now());
  const claims = { sub, topics, tools, level, kind: "agent", name } as const;
  const minted = await identity.tokens.mint(claims, { ttlMs, resource });
  const { jti, expiresAt } = minted;
  // A revocation that ended it meanwhile has not seen this token.
  if (!(await store.addToken({ jti, consent: id, expiresAt }, clock.now()))) {
    await identity.revocations.revoke(jti);
    return undefined;
  }
  const detail = { ...clientDetail(consent), jti, ttlMs, topics: [...topics], tools: [...tools], level };
  await audit.recordNow({ action: "token.issue", actor: "authorization", subject: sub, detail });
  return minted;
}

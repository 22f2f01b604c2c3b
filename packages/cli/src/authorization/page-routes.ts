// What the page asks where a person decides about a client: who asks, from where, for what; and the decision. Only in
// the browser the sign-in was begun in, and only by somebody who is logged in at the console.
import { randomUUID } from "node:crypto";
import type { Profiles } from "@mcpx/aggregator";
import type { Audit, Clock, HttpRequest, HttpResponse, Route } from "@mcpx/host";
import { isObject, type JsonObject, McpxError } from "@mcpx/protocol";
import type { Provider } from "oidc-provider";
import { readClaims } from "../console/mint-token.ts";
import type { Session } from "../console/sessions.ts";
import { authorizePage } from "../console/static-files.ts";
import { keyOf } from "./adapter.ts";
import { askedFacts, clientNameOf } from "./asked-facts.ts";
import type { AuthorizationServer } from "./authorization-server.ts";
import { type ConsentParts, clientDetail } from "./consents.ts";
import { type Asked, findAsked, isOver } from "./find-asked.ts";
import { consentMsMax, pagePath, scope } from "./library-settings.ts";
import { withoutQuery } from "./redirects.ts";
import type { Consent } from "./store/authorization-store.ts";

export interface PageParts extends ConsentParts {
  server: AuthorizationServer;
  audit: Audit;
  clock: Clock;
  /** Who runs this gateway. */
  user: string;
  profiles: Profiles;
  /** The login at the console; throws where there is none. */
  check(request: HttpRequest): Session;
}

const bodyBytesMax = 16_384;
const ttlMsMin = 60_000;
/** A client that nobody uses any more can be forgotten. */
const clientSpareMs = 86_400_000;

export function pageRoutes(parts: PageParts): Route[] {
  const page = authorizePage();
  return [
    { method: "GET", path: `${pagePath}/:uid`, handle: () => page },
    {
      method: "GET",
      path: `${pagePath}/:uid/asked`,
      handle: async (request) => {
        const { isLocal } = parts.check(request);
        const asked = await findAsked(parts.server, request);
        return { body: { ...askedFacts(asked, parts.profiles), user: parts.user, mayAllow: isLocal } };
      },
    },
    {
      method: "POST",
      path: `${pagePath}/:uid/decision`,
      bodyBytesMax,
      handle: (request) => decide(parts, request),
    },
  ];
}

async function decide(parts: PageParts, request: HttpRequest): Promise<HttpResponse> {
  const session = parts.check(request);
  const given = await request.json();
  // Who was logged out while it came decides nothing.
  parts.check(request);
  const body = isObject(given) ? given : {};
  if (body.decision !== "allow" && body.decision !== "deny")
    throw new McpxError("bad_request", "decision must be allow or deny");
  const asked = await findAsked(parts.server, request);
  const wish = body.decision === "allow" ? readWish(session, body) : undefined;
  const { store, clock } = parts;
  if (!(await store.consume("Interaction", keyOf(asked.interaction.uid), clock.now()))) throw isOver();
  const location = wish === undefined ? await deny(parts, asked) : await allow(parts, asked, wish);
  return { body: { location } };
}

async function deny({ audit, user }: PageParts, { provider, pair, client }: Asked): Promise<string> {
  const detail = { client: client.clientId.slice(0, 200), clientName: clientNameOf(client) };
  await audit.recordNow({ action: "consent.deny", actor: user, detail });
  const refusal = { error: "access_denied", error_description: "the person at the gateway refused" };
  return await provider.interactionResult(...pair, refusal, { mergeWithLastSubmission: false });
}

type Wish = Pick<Consent, "participant" | "topics" | "tools" | "level"> & { ttlMs: number };

function readWish({ isLocal }: Session, body: JsonObject): Wish {
  if (!isLocal) {
    throw new McpxError(
      "privilege_violation",
      "a login that came from a token alone allows no client anything",
      {
        suggestion:
          "Log in with a passkey, or with a link that `mcpx console` makes on the gateway's machine",
      },
    );
  }
  const { participant, topics, tools, level, ttlMs } = body;
  if (typeof ttlMs !== "number" || !Number.isSafeInteger(ttlMs) || ttlMs < ttlMsMin || ttlMs > consentMsMax)
    throw new McpxError("bad_request", "ttlMs must be from a minute to 90 days");
  const claims = readClaims({ id: participant, topics, tools, level });
  if (claims.sub === undefined || claims.level === undefined)
    throw new McpxError("bad_request", "level must be full, responder or restricted");
  const { sub, level: granted, tools: open = [] } = claims;
  return { participant: sub, topics: claims.topics, tools: open, level: granted, ttlMs };
}

async function allow(parts: PageParts, asked: Asked, { ttlMs, ...wish }: Wish): Promise<string> {
  const { store, audit, clock, user } = parts;
  const { provider, pair, interaction, client, redirect, resource } = asked;
  const id = await saveGrant(provider, { user, client: client.clientId, ttlMs, resource, interaction });
  const now = clock.now();
  const consent: Consent = {
    ...{ id, client: client.clientId, clientName: clientNameOf(client), redirect: withoutQuery(redirect) },
    ...{ account: user, resource, ...wish, createdAt: now, expiresAt: now + ttlMs, usedAt: undefined },
  };
  await store.addConsent(consent);
  await store.prolong("Client", keyOf(client.clientId), consent.expiresAt + clientSpareMs);
  const { topics, tools, level } = wish;
  const detail = { ...clientDetail(consent), resource, ttlMs, topics: [...topics], tools: [...tools], level };
  await audit.recordNow({ action: "consent.grant", actor: user, subject: consent.participant, detail });
  const result = { login: { accountId: user, remember: false }, consent: { grantId: id } };
  return await provider.interactionResult(...pair, result, { mergeWithLastSubmission: false });
}

interface GrantWish {
  user: string;
  client: string;
  ttlMs: number;
  resource: string;
  interaction: Asked["interaction"];
}

/** The library's own record of it, which ends when the consent does. */
async function saveGrant(provider: Provider, { user, client, ttlMs, resource, interaction }: GrantWish) {
  const wish = { jti: randomUUID(), accountId: user, clientId: client, expiresIn: Math.ceil(ttlMs / 1_000) };
  const grant = new provider.Grant(wish);
  const scopes = String(interaction.params.scope ?? "").split(" ");
  if (scopes.includes("openid")) grant.addOIDCScope("openid");
  grant.addResourceScope(resource, scope);
  return await grant.save();
}

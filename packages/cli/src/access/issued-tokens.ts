// The tokens a gateway has issued, newest first: of the data directory, or of a gateway elsewhere.
import { isObject, type JsonObject } from "@mcpx/protocol";
import { homeOf } from "../files/data-dir.ts";
import { localUser, withStore } from "../files/local-store.ts";
import type { Context, gatewayOptions } from "../framework/command.ts";
import { accessGateway, callGateway } from "./gateway-access.ts";

/** Every command makes one of its own: those somebody asks for may be far down. */
const storedMax = 100_000;
/** A gateway tells of no more at once. */
const toldMax = 1_000;

export function issuedTokens(context: Context<typeof gatewayOptions>): Promise<JsonObject[]> {
  return context.options.url === undefined ? readStore(context) : askGateway(context);
}

async function askGateway(context: Context<typeof gatewayOptions>): Promise<JsonObject[]> {
  const access = accessGateway(context, { sub: `cli:${localUser()}`, topics: [], admin: true });
  const { tokens } = await callGateway(await access.enter(), "GET", `/admin/tokens?limit=${toldMax}`);
  return Array.isArray(tokens) ? tokens.filter(isObject) : [];
}

function readStore(context: Context<typeof gatewayOptions>): Promise<JsonObject[]> {
  const iso = (ms: number) => new Date(ms).toISOString();
  return withStore(homeOf(context, context.options), {}, async ({ identity }) => {
    const issued = await identity.revocations.list({ limit: storedMax });
    return issued.map(({ issuedAt, expiresAt, revokedAt, ...token }) => ({
      ...token,
      issuedAt: iso(issuedAt),
      expiresAt: iso(expiresAt),
      revokedAt: revokedAt === undefined ? null : iso(revokedAt),
    }));
  });
}

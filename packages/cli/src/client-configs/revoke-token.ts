// Ends a token of a client, at the running gateway where there is one.

import { accessGateway, callGateway, hasGateway } from "../access/gateway-access.ts";
import type { ConnectContext } from "../commands/tree/connect.ts";
import { homeOf } from "../files/data-dir.ts";
import { localUser, withStore } from "../files/local-store.ts";

export async function revokeToken(context: ConnectContext, jti: string): Promise<void> {
  const by = `cli:${localUser()}`;
  // Our own gateway, whatever token the environment names for others.
  const own = {
    ...context,
    env: { ...context.env, MCPX_TOKEN: undefined },
    options: { ...context.options, url: undefined, token: undefined },
  };
  if (hasGateway(own)) {
    const access = accessGateway(own, { sub: by, topics: [], admin: true });
    await callGateway(await access.enter(), "DELETE", `/admin/tokens/${encodeURIComponent(jti)}`);
    return;
  }
  await withStore(homeOf(context, context.options), {}, async ({ identity, audit }) => {
    await identity.revocations.revoke(jti);
    await audit.recordNow({ action: "token.revoke", actor: by, subject: jti });
  });
}

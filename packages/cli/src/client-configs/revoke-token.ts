// Ends a token of a client, at the running gateway where there is one.
import type { ConnectContext } from "../commands/connect.ts";
import { dataDirOf } from "../data-dir.ts";
import { accessGateway, callGateway, hasGateway } from "../gateway-access.ts";
import { localUser, withStore } from "../local-store.ts";

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
  await withStore(dataDirOf(context, context.options), {}, ({ identity, audit }) => {
    identity.revocations.revoke(jti);
    audit.recordNow({ action: "token.revoke", actor: by, subject: jti });
  });
}

// `mcpx token revoke JTI`: it counts no more, and whoever is connected with it is cut off.
import type { JsonObject } from "@mcpx/protocol";
import { type Context, defineCommand, gatewayOptions } from "../command.ts";
import { dataDirOf } from "../data-dir.ts";
import { misuse } from "../failure.ts";
import { accessGateway, callGateway, hasGateway } from "../gateway-access.ts";
import { localUser, withStore } from "../local-store.ts";
import { visible } from "../visible.ts";

export const tokenRevoke = defineCommand({
  usage: "JTI",
  words: { min: 1, max: 1 },
  options: gatewayOptions,
  examples: [["mcpx token revoke 0b7c9a52-…", "the id as `mcpx token list` shows it"]],
  run,
});

async function run(context: Context<typeof gatewayOptions>): Promise<number> {
  const { options, output, words } = context;
  const [jti = ""] = words;
  if (jti.includes(".") && jti.length > 100) {
    throw misuse("that is a token, not its id", "find the id with mcpx token list");
  }
  const revoked = hasGateway(context) ? await askGateway(context, jti) : await revokeInStore(context, jti);
  if (options.json) output.json(revoked);
  else output.line(`revoked ${visible(jti)}${revoked.known === false ? ", which was not issued here" : ""}`);
  return 0;
}

async function askGateway(context: Context<typeof gatewayOptions>, jti: string): Promise<JsonObject> {
  const access = accessGateway(context, { sub: `cli:${localUser()}`, topics: [], admin: true });
  return callGateway(await access.enter(), "DELETE", `/admin/tokens/${encodeURIComponent(jti)}`);
}

function revokeInStore(context: Context<typeof gatewayOptions>, jti: string): Promise<JsonObject> {
  const by = `cli:${localUser()}`;
  return withStore(dataDirOf(context, context.options), {}, ({ identity, audit }) => {
    const { revokedAt, known } = identity.revocations.revoke(jti);
    audit.recordNow({ action: "token.revoke", actor: by, subject: jti });
    return { jti, revokedBy: by, revokedAt: new Date(revokedAt).toISOString(), known };
  });
}

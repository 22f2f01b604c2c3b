// `mcpx token revoke JTI`: the token is no longer valid, and connections made with it are closed.
import type { JsonObject } from "@mcpx/protocol";
import { accessGateway, callGateway, hasGateway } from "../../access/gateway-access.ts";
import { issuedTokens } from "../../access/issued-tokens.ts";
import { homeOf } from "../../files/data-dir.ts";
import { localUser, withStore } from "../../files/local-store.ts";
import { type Context, defineCommand, gatewayOptions } from "../../framework/command.ts";
import { Failure, misuse } from "../../framework/failure.ts";
import { withIdPrefix } from "../../framework/id-prefix.ts";
import { visible } from "../../framework/visible.ts";

export const tokenRevoke = defineCommand({
  usage: "JTI",
  words: { min: 1, max: 1 },
  options: gatewayOptions,
  examples: [
    ["mcpx token revoke 0b7c", "the beginning of its id will do, as `mcpx token list` shows it"],
    ["mcpx token revoke order-7731-for-alice", "one of another issuer, written in full"],
  ],
  run,
});

async function run(context: Context<typeof gatewayOptions>): Promise<number> {
  const { options, output, words } = context;
  const [given = ""] = words;
  if (given.includes(".") && given.length > 100) {
    throw misuse("this is a token, not the id of one", "find the id with mcpx token list");
  }
  const jti = chosenOf(given, await issuedTokens(context));
  const revoked = hasGateway(context) ? await askGateway(context, jti) : await revokeInStore(context, jti);
  if (options.json) output.json(revoked);
  else output.line(`revoked ${visible(jti)}${revoked.known === false ? ", which was not issued here" : ""}`);
  return 0;
}

/** The whole id of one that was issued here, or one of another issuer that is written in full. */
function chosenOf(given: string, issued: readonly JsonObject[]): string {
  const ids = issued.map(({ jti }) => String(jti));
  if (ids.includes(given)) return given;
  const fitting = withIdPrefix(given, ids, (id) => id);
  const [first, second] = fitting;
  if (second !== undefined) {
    const some = fitting.slice(0, namedMax).join(", ");
    const more = fitting.length > namedMax ? `, and ${fitting.length - namedMax} more` : "";
    throw misuse(`several tokens start with ${given}: ${some}${more}`, "write more characters of the id");
  }
  if (first !== undefined) return first;
  if (isWhole(given)) return given;
  throw new Failure(`there is no token with the id ${given}`, "see mcpx token list");
}

const namedMax = 5;
const wholeCharsMin = 16;

/** Token ids of this gateway are UUIDs: a shorter text is a mistake. */
function isWhole(id: string): boolean {
  const isPartOfOurs = /^[0-9a-f]{8}-[0-9a-f-]*$/i.test(id) && id.length < 36;
  return id.length >= wholeCharsMin && !isPartOfOurs;
}

async function askGateway(context: Context<typeof gatewayOptions>, jti: string): Promise<JsonObject> {
  const access = accessGateway(context, { sub: `cli:${localUser()}`, topics: [], admin: true });
  return callGateway(await access.enter(), "DELETE", `/admin/tokens/${encodeURIComponent(jti)}`);
}

function revokeInStore(context: Context<typeof gatewayOptions>, jti: string): Promise<JsonObject> {
  const by = `cli:${localUser()}`;
  return withStore(homeOf(context, context.options), {}, async ({ identity, audit }) => {
    const { revokedAt, known } = await identity.revocations.revoke(jti);
    await audit.recordNow({ action: "token.revoke", actor: by, subject: jti });
    return { jti, revokedBy: by, revokedAt: new Date(revokedAt).toISOString(), known };
  });
}

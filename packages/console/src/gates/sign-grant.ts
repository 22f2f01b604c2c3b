// What is allowed for a while is signed like a call: the gateway says what there is to sign, which must be what was asked
// for, and the browser's key or a passkey signs it.
import {
  digestOf,
  type GrantTerms,
  grantChallenge,
  isObject,
  type JsonObject,
  parseExact,
  signGrant,
} from "@mcpx/protocol";
import { app } from "../store/page.ts";
import { askPasskey } from "../store/passkeys.ts";
import { checkChain, checkChainAt } from "../store/seen-chain.ts";
import { browserKey, type Signer } from "./decide.ts";

interface Wished {
  principal: string;
  tools: string;
  /** Those it is bound to, where it is. */
  argumentsText?: string | undefined;
  /** The call that waits and is let go by the same signature. */
  included?: string | undefined;
  /** A call that waits, where the grant is given beside one. */
  gate?: string | undefined;
  signer: Signer | undefined;
}

export async function signGrantWish(wish: string, wished: Wished): Promise<void> {
  if (wished.gate === undefined) await checkChain(app.api);
  else await checkChainAt(app.api, wished.gate);
  const answer = await app.api.call("POST", "/admin/grants/terms", wish);
  const terms = answer.terms as unknown as GrantTerms;
  if (!(await isAsWished(terms, wish, wished))) {
    throw new Error("The gateway wants another grant signed than was asked for. Nothing was signed.");
  }
  await app.api.call("POST", "/admin/grants", {
    grant_id: terms.grant_id,
    ...(await signed(terms, answer, wished)),
  });
  await app.gates.refresh();
}

async function isAsWished(terms: GrantTerms, wish: string, wished: Wished): Promise<boolean> {
  const asked = parseExact(wish);
  if (!isObject(terms) || !isObject(asked)) return false;
  const { argumentsText, principal, tools } = wished;
  const expected: JsonObject = {
    principal,
    tools,
    ttl_ms: asked.ttlMs,
    uses: asked.uses,
    session: asked.session,
    reason: asked.reason,
    arguments_digest: argumentsText === undefined ? undefined : await digestOf(parseExact(argumentsText)),
  };
  const said = terms as unknown as JsonObject;
  const isSame = Object.entries(expected).every(([key, value]) => String(said[key]) === String(value));
  const call = terms.call?.confirmation_id;
  return isSame && call === wished.included;
}

async function signed(terms: GrantTerms, answer: JsonObject, { signer }: Wished): Promise<JsonObject> {
  const key = browserKey.get();
  if (signer === "key" && key !== undefined) {
    const { thumbprint: kid, privateKey } = key;
    return { proof: await signGrant(terms, { alg: "ES256", kid, privateKey }) };
  }
  const { passkey } = answer;
  if (!isObject(passkey) || passkey.challenge !== (await grantChallenge(terms))) {
    throw new Error("No passkey can be used here. Nothing was signed.");
  }
  return { credential: await askPasskey(passkey) };
}

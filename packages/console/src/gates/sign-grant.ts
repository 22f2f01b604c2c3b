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
import type { GateView } from "../store/gates.ts";
import { app } from "../store/page.ts";
import { askPasskey } from "../store/passkeys.ts";
import { checkChainAt } from "../store/seen-chain.ts";
import { browserKey, type Signer } from "./decide.ts";

interface Wished {
  scope: "hour" | "five" | "same" | "session";
  isIncluded: boolean;
  signer: Signer | undefined;
}

export async function signGrantWish(gate: GateView, wish: string, wished: Wished): Promise<void> {
  await checkChainAt(app.api, gate.id);
  const answer = await app.api.call("POST", "/admin/grants/terms", wish);
  const terms = answer.terms as unknown as GrantTerms;
  if (!(await isAsWished(terms, gate, wish, wished))) {
    throw new Error("The gateway wants another grant signed than was asked for. Nothing was signed.");
  }
  await app.api.call("POST", "/admin/grants", {
    grant_id: terms.grant_id,
    ...(await signed(terms, answer, wished)),
  });
  await app.gates.refresh();
}

async function isAsWished(terms: GrantTerms, gate: GateView, wish: string, wished: Wished): Promise<boolean> {
  const asked = parseExact(wish);
  if (!isObject(terms) || !isObject(asked)) return false;
  const expected: JsonObject = {
    principal: gate.principal,
    tools: gate.tool,
    ttl_ms: asked.ttlMs,
    uses: asked.uses,
    session: asked.session,
    reason: asked.reason,
    arguments_digest: wished.scope === "same" ? await digestOf(parseExact(gate.argumentsText)) : undefined,
  };
  const said = terms as unknown as JsonObject;
  const isSame = Object.entries(expected).every(([key, value]) => String(said[key]) === String(value));
  const call = terms.call?.confirmation_id;
  return isSame && call === (wished.isIncluded ? gate.id : undefined);
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

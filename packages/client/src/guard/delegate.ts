// Passes a capability on to somebody else, narrower or as it is. [AC-9-2]
import {
  type AccessKey,
  type CapabilityClaims,
  checkNarrower,
  type Ed25519Jwk,
  type JsonObject,
  readCapabilityToken,
  signCapability,
  type ToolSet,
} from "@mcpx/protocol";
import { newId } from "../core/new-id.ts";

export interface Delegation {
  holder: string;
  /** The new holder's public key, as the room shows it. */
  key: Ed25519Jwk;
  tools?: ToolSet;
  /** Seconds since 1970. */
  exp?: number;
  maxUses?: number;
  /** A JSON Schema, beside the one that is there. */
  arguments?: JsonObject;
  delegations?: number;
}

/**
 * A capability made from another that the caller holds. Throws where it would be wider, or may not be passed on.
 * @example const token = await delegateCapability(myKey, mine, { holder: "bob", key: bobsKey, maxUses: 1 });
 */
export async function delegateCapability(key: AccessKey, text: string, to: Delegation): Promise<string> {
  const { claims } = readCapabilityToken(text);
  const { holder, tools = claims.tools, exp = claims.exp, maxUses = claims.maxUses, delegations } = to;
  const child: CapabilityClaims = {
    jti: newId(),
    iss: claims.holder,
    holder,
    topic: claims.topic,
    cnf: { jwk: to.key },
    tools,
    iat: claims.iat,
    nbf: claims.nbf,
    exp,
    ...(maxUses === undefined ? {} : { maxUses }),
    ...(to.arguments === undefined ? {} : { arguments: to.arguments }),
    ...(delegations === undefined ? {} : { delegations }),
    parent: text,
  };
  checkNarrower(child, claims);
  return signCapability(key, child);
}

// Passing a capability on. The holder of one may make another from it, for somebody else, that may less: never more
// tools, time, uses or arguments, and only as many times as the owner allowed. Pure. [AC-9-2]
import { McpxError } from "../errors.ts";
import {
  type CapabilityClaims,
  type CapabilityToken,
  coversTool,
  delegationsMax,
  readCapabilityToken,
} from "./capability-token.ts";

/** The capability and those it was made from, the owner's last. Throws where one is wider than what it comes from. */
export function readChain(text: unknown): readonly CapabilityToken[] {
  const chain = [readCapabilityToken(text)];
  for (let { parent } = (chain[0] as CapabilityToken).claims; parent !== undefined; ) {
    if (chain.length > delegationsMax) {
      throw new McpxError("delegation_too_long", `it was passed on more than ${delegationsMax} times`);
    }
    const token = readCapabilityToken(parent);
    chain.push(token);
    parent = token.claims.parent;
  }
  chain.forEach((token, at) => {
    const source = chain[at + 1];
    if (source !== undefined) checkNarrower(token.claims, source.claims);
  });
  return chain;
}

/** Arguments are not compared: a call must satisfy the schemas of the whole chain. Uses count for each of it, too. */
export function checkNarrower(child: CapabilityClaims, source: CapabilityClaims): void {
  if (child.iss !== source.holder) {
    throw new McpxError("wrong_issuer", `only ${source.holder} passes this capability on`);
  }
  const allowed = Math.min(source.delegations ?? 0, delegationsMax);
  if (allowed < 1) throw new McpxError("delegation_too_long", "it may not be passed on any further");
  if ((child.delegations ?? 0) > allowed - 1) {
    throw new McpxError("delegation_too_long", `it may be passed on ${allowed - 1} times at most`);
  }
  const wider = widened(child, source);
  if (wider !== undefined) throw new McpxError("delegation_widened", `${wider} is wider than before`);
}

function widened(child: CapabilityClaims, source: CapabilityClaims): string | undefined {
  if (child.topic !== source.topic) return "topic";
  const { tools } = source;
  if (child.tools === "*" ? tools !== "*" : !child.tools.every((tool) => coversTool(tools, tool))) {
    return "tools";
  }
  if (child.nbf < source.nbf) return "nbf";
  if (child.exp > source.exp) return "exp";
  if (source.maxUses !== undefined && (child.maxUses ?? Number.POSITIVE_INFINITY) > source.maxUses) {
    return "maxUses";
  }
  // It was for one connection, which is not the new holder's.
  return source.channel === undefined ? undefined : "channel";
}

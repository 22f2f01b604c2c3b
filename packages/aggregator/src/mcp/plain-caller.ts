// Callers that come through no endpoint: the tree itself, an operator, a call that was approved after its caller left.
import type { Principal } from "@mcpx/host";
import type { Caller } from "./exchange.ts";

/** A caller without extensions, which sees canonical names. */
export function plainCaller(principal: Principal, key: string): Caller {
  return {
    principal,
    key,
    era: "modern",
    capabilities: {},
    info: undefined,
    dialect: "canonical",
    profile: undefined,
    logLevel: undefined,
  };
}

/** A caller without a token: a part of mcpx itself, for these tools and nothing else. */
export function innerPrincipal(id: string, tools: readonly string[], issuer = "local"): Principal {
  return {
    id,
    topics: [],
    tools,
    levelMax: "restricted",
    admin: false,
    expiresAt: Number.POSITIVE_INFINITY,
    jti: id,
    issuer,
    tokenHash: "",
  };
}

/** Tokens without an id are told apart by themselves. */
export function principalName({ id, jti }: Principal): string {
  return id ?? `token:${jti}`;
}

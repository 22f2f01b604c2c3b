// How a fulfilment names the proposal it fulfils, in `params._meta` of the call and `_meta` of the result.
// [X1-4.2.1-1] [X1-4.2.1-3]
import { isObject, type JsonObject } from "@mcpx/protocol";

const proposalMetaKey = "org.mcpx/proposal";

export interface FulfilmentMeta {
  proposal: string;
  proposer: string;
  /** Only in results. */
  fulfiller?: string;
  /** COMPAT: a `tools/request`, no proposal. */
  isCompat?: boolean;
}

/** The `_meta` of params or of a result with the proposal named in it; other keys stay. */
export function withFulfilmentMeta<T extends JsonObject>(
  body: T,
  meta: FulfilmentMeta,
): T & { _meta: JsonObject } {
  const before = isObject(body._meta) ? body._meta : {};
  return { ...body, _meta: { ...before, [proposalMetaKey]: meta } };
}

/** What params or a result say of the proposal behind them. */
export function fulfilmentMetaOf(body: unknown): FulfilmentMeta | undefined {
  const meta = isObject(body) && isObject(body._meta) ? body._meta[proposalMetaKey] : undefined;
  if (!isObject(meta) || typeof meta.proposal !== "string" || typeof meta.proposer !== "string")
    return undefined;
  const { proposal, proposer, fulfiller } = meta;
  return { proposal, proposer, ...(typeof fulfiller === "string" ? { fulfiller } : {}) };
}

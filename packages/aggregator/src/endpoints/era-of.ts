// Which era a message belongs to: its body decides, the header is a witness. Pure.
import type { Era } from "../mcp/era.ts";
import { metaKeys } from "../mcp/era.ts";
import type { RpcNotification, RpcRequest } from "../mcp/message.ts";
import { rpcCodes, rpcError } from "../mcp/rpc-error.ts";
import { hasClaim, isModernRevision, metaOf, readRequestMeta } from "./request-meta.ts";

/** Throws -32020 where header and body are of two eras, -32602 where the header is modern and the body says nothing. */
export function eraOf(message: RpcRequest | RpcNotification, version: string | undefined): Era {
  const { kind, method, params } = message;
  const isModernHeader = version !== undefined && isModernRevision(version);
  if (method === "initialize" && !hasGoodClaim(message)) {
    if (!isModernHeader) return "legacy";
    throw rpcError(rpcCodes.headerMismatch, "Header mismatch: initialize is of another era than the header", {
      mismatch: { header: version, body: "initialize" },
    });
  }
  if (hasClaim(params)) return "modern";
  if (!isModernHeader) return "legacy";
  if (kind === "notification") return "modern";
  const missing = metaOf(params) === undefined ? "_meta" : metaKeys.protocolVersion;
  throw rpcError(rpcCodes.invalidParams, `Invalid params: revision ${version} needs ${missing}`, {
    envelope: { missing: [missing] },
  });
}

/** The modern era has no `initialize`; only a message that is modern beyond doubt is told so. */
function hasGoodClaim({ params }: RpcRequest | RpcNotification): boolean {
  if (!hasClaim(params)) return false;
  try {
    return isModernRevision(readRequestMeta(params).revision);
  } catch {
    return false;
  }
}

// The `Mcp-Param-*` headers of a call: what a modern client sent is checked against the arguments, since whoever reads
// the body must; for all others they are made. Headers nobody declared go on as they came.
import type { Entry } from "./catalogue.ts";
import type { Exchange } from "./exchange.ts";
import { decodedHeader } from "./links/header-value.ts";
import { paramHeaders } from "./links/param-headers.ts";
import { rpcCodes, rpcError } from "./rpc-error.ts";

type Headers = Readonly<Record<string, string>>;

export function paramHeadersFor(exchange: Exchange, { item }: Entry): Headers {
  const { params, paramHeaders: given } = exchange;
  const meant = paramHeaders(item.inputSchema, params.arguments);
  if (given === undefined) return meant;
  for (const [name, value] of Object.entries(meant)) {
    const sent = given[name.toLowerCase()];
    if (sent === undefined || !isSame(decodedHeader(sent), decodedHeader(value))) {
      throw rpcError(rpcCodes.headerMismatch, `${name} does not say what the arguments say`);
    }
  }
  return given;
}

/** 42 and 42.0 are the same number. */
function isSame(sent: string | undefined, meant: string | undefined): boolean {
  if (sent === undefined || meant === undefined) return false;
  const isNumber = /^-?\d+(\.\d+)?$/.test(sent) && /^-?\d+(\.\d+)?$/.test(meant);
  return sent === meant || (isNumber && Number(sent) === Number(meant));
}

// The `Mcp-Param-*` headers of a call: what a modern client sent is checked against the arguments, since a proxy that
// reads the body must; for all others they are made. Headers nobody declared go on as they came.
import type { Entry } from "../catalogue/catalogue.ts";
import type { FixedArguments } from "../catalogue/overrides.ts";
import { decodedHeader } from "../links/header-value.ts";
import { declaredHeaders, paramHeaders } from "../links/param-headers.ts";
import type { Exchange } from "../mcp/exchange.ts";
import { rpcCodes, rpcError } from "../mcp/rpc-error.ts";

type Headers = Readonly<Record<string, string>>;

export function paramHeadersFor(exchange: Exchange, entry: Entry): Headers {
  const sent = checkedHeaders(exchange, entry);
  return entry.fixed === undefined ? sent : withFixed(sent, entry.item.inputSchema, entry.fixed);
}

/** Of arguments the caller does not choose it chooses no header either. */
function withFixed(sent: Headers, shown: unknown, { schema, values }: FixedArguments): Headers {
  const own = new Set(declaredHeaders(shown));
  const ours = declaredHeaders(schema).filter((header) => !own.has(header));
  const hidden = new Set(ours.map((header) => `mcp-param-${header.toLowerCase()}`));
  const kept = Object.entries(sent).filter(([name]) => !hidden.has(name.toLowerCase()));
  return { ...Object.fromEntries(kept), ...paramHeaders(schema, values) };
}

function checkedHeaders({ params, paramHeaders: given }: Exchange, { item }: Entry): Headers {
  const meant = paramHeaders(item.inputSchema, params.arguments);
  if (given === undefined) return meant;
  for (const [name, value] of Object.entries(meant)) {
    const sent = given[name.toLowerCase()];
    if (sent === undefined || !isSame(decodedHeader(sent), decodedHeader(value))) {
      throw rpcError(
        rpcCodes.headerMismatch,
        `Header mismatch: ${name} differs from its argument in the body`,
      );
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

// `initialize`: which revision is spoken, and who the client says it is. Pure.
import type { JsonObject } from "@mcpx/protocol";
import { legacyRevisions } from "../mcp/era.ts";
import { isPlain } from "../mcp/message.ts";
import { rpcCodes, rpcError } from "../mcp/rpc-error.ts";

export interface Hello {
  revision: (typeof legacyRevisions)[number];
  capabilities: JsonObject;
  info: JsonObject | undefined;
}

/** The revision asked for, else the newest legacy one. Throws -32602. */
export function readHello({ protocolVersion, capabilities = {}, clientInfo }: JsonObject): Hello {
  if (typeof protocolVersion !== "string") throw bad("protocolVersion must be a string");
  if (!isPlain(capabilities)) throw bad("capabilities must be an object");
  if (clientInfo !== undefined && !isPlain(clientInfo)) throw bad("clientInfo must be an object");
  const revision = legacyRevisions.find((known) => known === protocolVersion) ?? legacyRevisions[0];
  return { revision, capabilities, info: clientInfo };
}

function bad(detail: string) {
  return rpcError(rpcCodes.invalidParams, `Invalid params: ${detail}`);
}

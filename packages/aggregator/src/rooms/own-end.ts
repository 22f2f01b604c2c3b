// What the tree's participant asks itself in a room: its own call that names a gate's proposal ends that proposal, and is
// answered with the gate's outcome. Nothing is ever dispatched by it. [B-GATE-2]

import { fulfilmentMetaOf, type ServableServer } from "@mcpx/client";
import { isObject, type JsonObject, written } from "@mcpx/protocol";
import { faultOf, rpcCodes, rpcError } from "../mcp/rpc-error.ts";

/** The side of a served link that a server sees. */
export interface ServedTransport {
  onmessage?: ((message: JsonObject, extra?: { envelopeId?: string }) => void) | undefined;
  onclose?: (() => void) | undefined;
  send(message: JsonObject): Promise<void>;
  close(): Promise<void>;
}

/** `outcomeOf`: what the gate behind this proposal has come to, when it has. */
export function ownEnd(outcomeOf: (proposalId: string) => Promise<JsonObject>): ServableServer {
  return {
    async connect(transport: ServedTransport) {
      transport.onmessage = (message) => {
        if (message.id !== undefined) void answer(transport, message, outcomeOf);
      };
    },
    async close() {},
  };
}

async function answer(
  transport: ServedTransport,
  { id, method, params }: JsonObject,
  outcomeOf: (proposalId: string) => Promise<JsonObject>,
): Promise<void> {
  const reply = (body: JsonObject) => transport.send({ jsonrpc: "2.0", id, ...body });
  try {
    await reply({ result: await resultOf(written(method), isObject(params) ? params : {}, outcomeOf) });
  } catch (error) {
    await reply({ error: { ...faultOf(error) } });
  }
}

async function resultOf(
  method: string,
  params: JsonObject,
  outcomeOf: (proposalId: string) => Promise<JsonObject>,
): Promise<JsonObject> {
  if (method === "initialize") {
    const serverInfo = { name: "mcpx", version: "1" };
    return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo };
  }
  const proposal = method === "tools/call" ? fulfilmentMetaOf(params)?.proposal : undefined;
  if (proposal !== undefined) return await outcomeOf(proposal);
  throw rpcError(rpcCodes.methodNotFound, "Method not found: the tree calls nothing of its own");
}

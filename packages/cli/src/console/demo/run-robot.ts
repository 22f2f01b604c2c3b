// The demo's robot: a member of the room that serves its tools to everybody.
import type { Room, ServableServer } from "@mcpx/client";
import { isObject, isRequestId, type JsonObject } from "@mcpx/protocol";
import { answerDemo, robotTools } from "./demo-tools.ts";

interface Transport {
  onmessage?: ((message: JsonObject) => void) | undefined;
  start(): Promise<void>;
  send(message: JsonObject): Promise<void>;
  close(): Promise<void>;
}

export async function runRobot(room: Room): Promise<void> {
  await room.serve(robotServer());
  await room.setStatus("ready", "demo: I only say what I would do");
}

/** As small as an MCP server can be. */
function robotServer(): ServableServer {
  let transport: Transport | undefined;
  const answer = async ({ id, method, params }: JsonObject) => {
    if (!isRequestId(id) || typeof method !== "string") return;
    const result = answerDemo(robotTools, "demo robot", { method, params: isObject(params) ? params : {} });
    const body = result === undefined ? { error: { code: -32601, message: "Method not found" } } : { result };
    await transport?.send({ jsonrpc: "2.0", id, ...body });
  };
  return {
    async connect(given: Transport) {
      transport = given;
      given.onmessage = (message) => void answer(message);
      await given.start();
    },
    close: async () => transport?.close(),
  };
}

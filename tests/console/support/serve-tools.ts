// A served tool as small as can be: it remembers with what it was called.
import type { ServableServer } from "@mcpx/client";
import type { JsonObject } from "@mcpx/protocol";

interface Transport {
  onmessage?: ((message: JsonObject) => void) | undefined;
  start(): Promise<void>;
  send(message: JsonObject): Promise<void>;
  close(): Promise<void>;
}

export interface ServedTool {
  name: string;
  answer?: JsonObject;
  more?: JsonObject;
}

export function serveTools(
  called: unknown[],
  {
    name = "heat",
    answer = { content: [{ type: "text", text: "done" }] },
    more = {},
  }: Partial<ServedTool> = {},
): ServableServer {
  const tool = { name, inputSchema: { type: "object" }, ...more };
  const results: Record<string, (params: JsonObject) => JsonObject> = {
    initialize: ({ protocolVersion }) => ({
      protocolVersion,
      capabilities: { tools: {} },
      serverInfo: { name: "robot", version: "1" },
    }),
    "tools/list": () => ({ tools: [tool] }),
    "tools/call": (params) => {
      called.push(params.arguments);
      return answer;
    },
  };
  let transport: Transport | undefined;
  return {
    async connect(given: Transport) {
      transport = given;
      given.onmessage = ({ id, method, params }) => {
        if (id === undefined) return;
        const result = results[String(method)]?.((params ?? {}) as JsonObject) ?? {};
        void given.send({ jsonrpc: "2.0", id, result });
      };
      await given.start();
    },
    close: async () => transport?.close(),
  };
}

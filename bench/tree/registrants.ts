// Many subservers in one process, made of nothing but WebSockets. `registrants.ts URL TOKEN COUNT`: tells how long it
// took until all were registered; on a message, the first of them gets another tool and says so.
import { randomUUID } from "node:crypto";
import { harmless } from "@mcpx/protocol";
import { WebSocket } from "ws";

const [url = "", token = "", count = "1"] = process.argv.slice(2);
const tool = (name: string) => ({
  name,
  description: "Says it back.",
  inputSchema: { type: "object" },
  _meta: { "x-mcpax-capability": harmless },
});

interface Message {
  id?: unknown;
  method?: string;
  params?: { notifications?: unknown };
  error?: unknown;
}

interface Registrant {
  isRegistered: Promise<void>;
  addTool(name: string): void;
}

function come(segment: string): Registrant {
  const tools = [tool("t")];
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = new WebSocket(`${url.replace(/^http/, "ws")}/ax`, {
    headers: { authorization: `Bearer ${token}` },
  });
  let listening: unknown;
  const say = (message: object) => socket.send(JSON.stringify({ jsonrpc: "2.0", ...message }));
  const answers: Record<string, (message: Message) => object | undefined> = {
    "mcpax/parent": () => ({ parent_id: null }),
    "server/discover": () => ({
      resultType: "complete",
      supportedVersions: ["2026-07-28"],
      capabilities: { tools: { listChanged: true } },
    }),
    "tools/list": () => ({ resultType: "complete", tools }),
    "tools/call": () => ({ resultType: "complete", content: [{ type: "text", text: "" }] }),
    "subscriptions/listen": ({ id, params }) => {
      listening = { "io.modelcontextprotocol/subscriptionId": id };
      const told = { notifications: params?.notifications, _meta: listening };
      say({ method: "notifications/subscriptions/acknowledged", params: told });
      return undefined;
    },
  };
  socket.on("error", reject);
  socket.on("open", () =>
    say({
      id: "register",
      method: "mcpax/register",
      params: {
        subserver_id: randomUUID(),
        segment,
        capabilities: { tools: true, notifications: true },
        heartbeat_interval_ms: 0,
        transport_class: "websocket",
        version: "2026-05-01",
      },
    }),
  );
  socket.on("message", (data) => {
    const message = JSON.parse(String(data)) as Message;
    if (message.method === undefined) {
      if (message.error === undefined) resolve();
      else reject(new Error(JSON.stringify(message.error)));
    } else if (message.id !== undefined) {
      const result = answers[message.method]?.(message);
      if (result !== undefined) say({ id: message.id, result });
    }
  });
  return {
    isRegistered: promise,
    addTool(name) {
      tools.push(tool(name));
      say({ method: "notifications/tools/list_changed", params: { _meta: listening } });
    },
  };
}

const startedAt = performance.now();
const all = Array.from({ length: Number(count) }, (_, i) => come(`r${i}`));
await Promise.all(all.map(({ isRegistered }) => isRegistered));
process.send?.({ registeredMs: performance.now() - startedAt });
process.on("message", ({ add }: { add: string }) => all[0]?.addTool(add));
process.on("disconnect", () => process.exit(0));

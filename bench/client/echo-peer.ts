// The called side, in a process of its own: `room` serves an echo tool in a room by the official SDK; `direct` is a
// plain WebSocket that answers the same request.
import { joinRoom } from "@mcpx/client";
import { McpServer } from "@modelcontextprotocol/server";
import { WebSocketServer } from "ws";
import { z } from "zod";

const [how, url = "", token = ""] = process.argv.slice(2);
process.on("disconnect", () => process.exit(0));

if (how === "room") {
  const server = new McpServer({ name: "echo", version: "1.0.0" });
  server.registerTool("echo", { inputSchema: z.object({ text: z.string() }) }, ({ text }) => ({
    content: [{ type: "text", text }],
  }));
  const room = await joinRoom({ url, topic: "bench-0", token });
  await room.serve(server);
  process.send?.({ url });
} else {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
  server.on("connection", (socket) => {
    socket.on("message", (data) => {
      const { id, params } = JSON.parse(String(data));
      const result = { content: [{ type: "text", text: params.arguments.text }] };
      socket.send(JSON.stringify({ jsonrpc: "2.0", id, result }));
    });
  });
  server.on("listening", () => {
    const address = server.address();
    if (typeof address === "object" && address !== null)
      process.send?.({ url: `ws://127.0.0.1:${address.port}` });
  });
}

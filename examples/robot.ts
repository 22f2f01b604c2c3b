// A robot that serves tools to everybody in the room, with progress, until it is told to stop.
import { joinRoom } from "@mcpx/client";
import { McpServer } from "@modelcontextprotocol/server";
import { z } from "zod";

const { MCPX_URL: url = "http://127.0.0.1:6279", MCPX_TOKEN_OVEN: token = "" } = process.env;
const server = new McpServer({ name: "oven", version: "1.0.0" });
let degrees = 20;

server.registerTool(
  "heat",
  { description: "Heats the oven", inputSchema: z.object({ degrees: z.number().max(250) }) },
  async (wanted, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken;
    while (degrees < wanted.degrees) {
      degrees = Math.min(degrees + 40, wanted.degrees);
      if (progressToken === undefined) continue;
      const params = { progressToken, progress: degrees, total: wanted.degrees };
      await mcpReq.notify({ method: "notifications/progress", params });
    }
    return { content: [{ type: "text", text: `The oven has ${degrees} degrees` }] };
  },
);

await using room = await joinRoom({ url, topic: "kitchen", token });
await room.serve(server);
console.log(`${room.id} serves in ${room.topic}`);
await new Promise((resolve) => process.once("SIGTERM", resolve));

// A gateway with a room in which a robot serves a tool and a restricted agent proposes, and a tree with a gated tool.
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Config } from "@mcpx/cli";
import { joinRoom, type Room } from "@mcpx/client";
import type { TokenClaims } from "@mcpx/host";
import type { JsonObject, Limits } from "@mcpx/protocol";
import { startTestServer, type TestServer, type TestServerOptions } from "../../support/test-server.ts";
import { callTool } from "../../tree/support/ask.ts";
import { serveTools } from "./serve-tools.ts";
import { loginPath } from "./visitor.ts";

export interface Scene {
  server: TestServer;
  agent: Room;
  /** The arguments the robot was called with. */
  called: unknown[];
  propose(args: JsonObject, reason?: string, tool?: string): ReturnType<Room["propose"]>;
  /** The agent calls the gated tool, and hears in the end what came of it, or that it waits. */
  shred(args: JsonObject): Promise<string>;
  /** The same with any tool of the tree. */
  call(tool: string, args: JsonObject): Promise<string>;
  /** What the gated tool has done. */
  shredded(): string[];
  join(claims: Omit<TokenClaims, "topics">): Promise<Room>;
  /** A new link, by name: passkeys need one. */
  link(): Promise<string>;
  end(): Promise<void>;
}

const topic = "bakery";
const shredder = join(import.meta.dirname, "../../gates/support/shredder.ts");

export interface SceneOptions {
  rules?: NonNullable<Config["gates"]>["rules"];
  /** More servers of the tree. */
  servers?: NonNullable<Config["mcpServers"]>;
  limits?: Partial<Limits>;
  push?: NonNullable<Config["push"]>;
  /** Of the robot's tool in the room. */
  inputSchema?: object;
  /** A free one unless given. */
  port?: number;
  /** The room that shows what waits at gates. */
  room?: string;
  /** What else the gateway is given. */
  more?: Pick<TestServerOptions, "bridges" | "auditPush" | "tracer">;
}

export async function startScene({
  rules = [],
  servers = {},
  limits = {},
  push = {},
  inputSchema,
  port,
  room: gateRoom,
  more: given = {},
}: SceneOptions = {}): Promise<Scene> {
  const dir = mkdtempSync(join(tmpdir(), "mcpx-scene-"));
  const traces = join(dir, "traces");
  const office = { command: process.execPath, args: [shredder, traces], trusted: true };
  const server = await startTestServer({
    config: {
      gates: { rules, ...(gateRoom && { room: gateRoom }) },
      mcpServers: { office, ...servers },
      push,
    },
    ...given,
    limits,
    ...(port !== undefined && { port }),
  });
  const rooms: Room[] = [];
  const pending: Promise<unknown>[] = [];
  const enter: Scene["join"] = async (claims) => {
    const token = await server.token({ topics: [topic], ...claims });
    const room = await joinRoom({ url: server.url, topic, token });
    rooms.push(room);
    return room;
  };
  const called: unknown[] = [];
  const robot = await enter({ sub: "robot", level: "responder", kind: "robot" });
  const more = {
    annotations: { readOnlyHint: false, destructiveHint: false },
    ...(inputSchema && { inputSchema }),
  };
  await robot.serve(serveTools(called, { more }));
  const agent = await enter({ sub: "agent", level: "restricted", kind: "agent" });
  const token = await server.token({ sub: "agent", topics: [], tools: ["**"] });
  const call: Scene["call"] = (tool, args) => {
    const calling = callTool({ url: `${server.url}/mcp`, token }, tool, args);
    pending.push(calling);
    return calling.then(({ message }) => JSON.stringify(message));
  };
  return {
    server,
    agent,
    called,
    join: enter,
    // To nobody in particular where the robot would say itself that it has no such tool.
    propose: (args, reason, tool = "heat") =>
      agent.propose({
        to: tool === "heat" ? "robot" : [],
        method: "tools/call",
        params: { name: tool, arguments: args },
        reason,
      }),
    shred: (args) => call("office.shred", args),
    call,
    shredded: () => (existsSync(traces) ? readFileSync(traces, "utf8").trimEnd().split("\n") : []),
    link: async () => `${server.url.replace("127.0.0.1", "localhost")}${await loginPath(server)}`,
    async end() {
      await Promise.allSettled(pending);
      await Promise.all(rooms.map((room) => room.close()));
      await server.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

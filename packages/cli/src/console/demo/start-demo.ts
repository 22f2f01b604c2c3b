// The demo: a room with a robot and a restricted agent, and a workshop in the tree. It lives in this process and ends
// with it; nothing of it is written to a configuration.
import { innerPrincipal, plainCaller, type RunningTree } from "@mcpx/aggregator";
import type { Logger } from "@mcpx/host";
import { type JsonObject, type Level, McpxError } from "@mcpx/protocol";
import { joinLocally, ownPrincipal, type Rooms } from "../../access/local-gateway.ts";
import type { ServerSettings } from "../../settings/server-settings.ts";
import { noServers } from "../../settings/tree-settings.ts";
import { workshop } from "./demo-workshop.ts";
import { runAgent } from "./run-agent.ts";
import { runRobot } from "./run-robot.ts";

export interface DemoOptions {
  rooms: Rooms;
  tree: RunningTree;
  log: Logger;
}

export interface Demo {
  stop(): Promise<void>;
}

const topic = "demo";
const robotId = "demo-robot";
const agentId = "demo-agent";

export async function startDemo({ rooms, tree, log }: DemoOptions): Promise<Demo> {
  const join = (id: string, kind: "agent" | "robot", level: Level) =>
    joinLocally(rooms, { ...ownPrincipal(id, topic, kind), level, levelMax: level }, topic, {
      isSecond: false,
    });
  const robot = await join(robotId, "robot", "responder");
  const agent = await join(agentId, "agent", "restricted");
  const ending = new AbortController();
  await runRobot(robot);
  runAgent({
    room: agent,
    robot: robotId,
    callTree: (tool, args) => callAs(tree, agentId, tool, args, ending.signal),
    fault: (error) => log.debug({ err: error }, "demo agent failed"),
  });
  return {
    async stop() {
      ending.abort();
      await Promise.all([agent.close(), robot.close()]);
    },
  };
}

/** The demo's workshop stands in the tree. */
export function withDemo(settings: ServerSettings): ServerSettings {
  const tree = settings.tree ?? noServers;
  return { ...settings, tree: { ...tree, servers: [...tree.servers, workshop] } };
}

/** Calls a tool like a caller through an endpoint. */
function callAs(
  tree: RunningTree,
  id: string,
  tool: string,
  args: JsonObject,
  signal: AbortSignal,
): Promise<JsonObject> {
  return tree.handle({
    caller: plainCaller(innerPrincipal(id, ["workshop.**"], "demo"), `demo:${id}`),
    method: "tools/call",
    params: { name: tool, arguments: args },
    wantsProgress: false,
    paramHeaders: undefined,
    signal,
    notify: () => {},
    ask: async () => {
      throw new McpxError("unknown_method", "the demo cannot answer questions of a tool");
    },
  });
}

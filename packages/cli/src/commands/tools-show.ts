// `mcpx tools show NAME`: all that is known of one tool.
import { isObject } from "@mcpx/protocol";
import { type Context, defineCommand, gatewayOptions } from "../command.ts";
import { Failure } from "../failure.ts";
import { accessGateway } from "../gateway-access.ts";
import { openTree } from "../gateway-link.ts";
import { localUser } from "../local-store.ts";
import { suggestion } from "../nearest.ts";
import { serverOf, showLines } from "../tool-lines.ts";
import { listAll } from "./tree.ts";

export const toolsShow = defineCommand({
  name: "tools show",
  summary: "show one tool: description, arguments, danger, where it comes from",
  usage: "NAME",
  words: { min: 1, max: 1 },
  options: gatewayOptions,
  examples: [["mcpx tools show files.read_file", "as clients see it"]],
  run,
});

async function run(context: Context<typeof gatewayOptions>): Promise<number> {
  const { options, output, words } = context;
  const [name = ""] = words;
  const access = accessGateway(context, { sub: `cli:${localUser()}`, topics: [], tools: ["**"] });
  const caller = await openTree(access);
  try {
    const listed = await listAll(caller);
    const status = await caller.request("tools/call", { name: "mcpax.status", arguments: {} });
    const report = isObject(status.structuredContent) ? status.structuredContent : {};
    const servers = Array.isArray(report.servers) ? report.servers.filter(isObject) : [];
    const tool = listed.find((one) => one.name === name);
    if (tool === undefined) {
      const isChanged = servers.some(
        ({ quarantined }) => Array.isArray(quarantined) && quarantined.includes(name),
      );
      if (isChanged) throw new Failure(`${name} has changed`, `look at it with mcpx tools diff ${name}`);
      const names = listed.map((one) => String(one.name));
      throw new Failure(`there is no tool ${name}`, suggestion(name, names) ?? "see mcpx tools");
    }
    const server = serverOf(name, servers);
    if (options.json) output.json({ ...tool, server: server?.name ?? null });
    else for (const line of showLines(tool, server)) output.line(line);
    return 0;
  } finally {
    await caller.close();
  }
}

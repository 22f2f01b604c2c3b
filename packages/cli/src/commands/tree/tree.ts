// `mcpx tree`: the servers of the tree, whether they are up, what they have, and what they write to stderr.
import { isObject } from "@mcpx/protocol";
import { type Context, defineCommand, gatewayOptions } from "../../framework/command.ts";
import { visible } from "../../framework/visible.ts";
import { adminCall } from "../../gates/gate-access.ts";
import { lookAtTree } from "../../tree-view/look-at-tree.ts";
import { knowingServers } from "../../tree-view/no-such-server.ts";
import { drawTree } from "../../tree-view/tree-drawing.ts";

const options = {
  ...gatewayOptions,
  tools: { type: "boolean", about: "every tool too" },
  log: {
    type: "string",
    values: "server",
    value: "NAME",
    about: "instead, the last stderr lines of this server",
  },
} as const;

export const tree = defineCommand({
  usage: "[--tools | --log NAME]",
  words: { min: 0, max: 0 },
  options,
  examples: [
    ["mcpx tree", "servers, their state and what is wrong with them"],
    ["mcpx tree --tools", "with every tool"],
    ["mcpx tree --log files", "the last lines of a server's standard error"],
  ],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { output } = context;
  if (context.options.log !== undefined) return printLog(context, context.options.log);
  const { url, tools, report } = await lookAtTree(context);
  if (context.options.json) output.json({ ...report, tools });
  else
    for (const line of drawTree({ url, report, tools, isFull: context.options.tools }, output))
      output.line(context.hint(line));
  return 0;
}

async function printLog(context: Context<typeof options>, name: string): Promise<number> {
  const { output } = context;
  const asked = adminCall(context)("GET", `/servers/${encodeURIComponent(name)}/log`);
  const answer = await knowingServers(context, name, asked);
  const lines = Array.isArray(answer.lines) ? answer.lines.filter(isObject) : [];
  if (context.options.json) output.json(answer);
  else
    for (const { at, line } of lines)
      output.line(
        `${output.paint("dim", visible(String(at).slice(0, 19).replace("T", " ")))} ${visible(String(line))}`,
      );
  return 0;
}

// `mcpx users SERVER`: who has signed in to a server that users sign in to themselves.
import { type Context, defineCommand, gatewayOptions } from "../../framework/command.ts";
import { visible } from "../../framework/visible.ts";
import { adminCall } from "../../gates/gate-access.ts";
import { knowingServers } from "../../tree-view/no-such-server.ts";

export const users = defineCommand({
  usage: "SERVER",
  words: { min: 1, max: 1, values: [["server"]] },
  options: gatewayOptions,
  examples: [["mcpx users notes", 'one with "oauth": {"per": "user"}']],
  run,
});

async function run(context: Context<typeof gatewayOptions>): Promise<number> {
  const { options, output, words } = context;
  const [server = ""] = words;
  const asked = adminCall(context)("GET", `/servers/${encodeURIComponent(server)}/users`);
  const answer = await knowingServers(context, server, asked);
  if (options.json) {
    output.json(answer);
    return 0;
  }
  const names = Array.isArray(answer.users) ? answer.users.map(String) : [];
  if (names.length === 0) output.note(`nobody has signed in to ${visible(server)}`);
  for (const name of names) output.line(visible(name));
  return 0;
}

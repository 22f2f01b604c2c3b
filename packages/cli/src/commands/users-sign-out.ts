// `mcpx users sign-out SERVER --user NAME`: what the user had signed in for is removed, and what is open with it ends.
import { type Context, defineCommand, gatewayOptions } from "../command.ts";
import { misuse } from "../failure.ts";
import { adminCall } from "../gate-desk.ts";
import { visible } from "../visible.ts";

const options = { ...gatewayOptions, user: { type: "string", value: "NAME", about: "who" } } as const;

export const usersSignOut = defineCommand({
  usage: "SERVER --user NAME",
  words: { min: 1, max: 1, values: [["server"]] },
  options,
  examples: [["mcpx users sign-out notes --user alice", "her assistants have to ask her again"]],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { options, output, words } = context;
  const [server = ""] = words;
  const { user } = options;
  if (user === undefined) throw misuse("--user is missing", "see mcpx users SERVER for their names");
  const path = `/servers/${encodeURIComponent(server)}/users/${encodeURIComponent(user)}`;
  const answer = await adminCall(context)("DELETE", path);
  if (options.json) output.json(answer);
  else output.line(`${visible(user)} is signed out of ${visible(server)}`);
  return 0;
}

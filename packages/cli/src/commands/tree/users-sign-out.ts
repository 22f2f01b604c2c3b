// `mcpx users sign-out SERVER --user NAME`: what the user had signed in for is removed, and what is open with it ends.
import { type Context, defineCommand, gatewayOptions } from "../../framework/command.ts";
import { Failure, misuse } from "../../framework/failure.ts";
import { visible } from "../../framework/visible.ts";
import { adminCall } from "../../gates/gate-access.ts";
import { knowingServers, namesText } from "../../tree-view/no-such-server.ts";

const options = { ...gatewayOptions, user: { type: "string", value: "NAME", about: "who" } } as const;

export const usersSignOut = defineCommand({
  usage: "SERVER --user NAME",
  words: { min: 1, max: 1, values: [["server"]] },
  options,
  examples: [["mcpx users sign-out notes --user alice", "alice has to sign in again"]],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { options, output, words } = context;
  const [server = ""] = words;
  const { user } = options;
  if (user === undefined) throw misuse("--user is missing", "see mcpx users SERVER for their names");
  const users = `/servers/${encodeURIComponent(server)}/users`;
  const call = adminCall(context);
  const answer = await call("DELETE", `${users}/${encodeURIComponent(user)}`).catch(
    async (error: unknown) => {
      if (!(error instanceof Failure) || error.reason !== "not_found") throw error;
      const { users: names } = await knowingServers(context, server, call("GET", users));
      throw notSignedIn(user, server, Array.isArray(names) ? names.map(String) : []);
    },
  );
  if (options.json) output.json(answer);
  else output.line(`${visible(user)} is signed out of ${visible(server)}`);
  return 0;
}

function notSignedIn(user: string, server: string, names: readonly string[]): Failure {
  const fix = names.length === 0 ? "nobody is" : `there are: ${namesText(names)}`;
  return new Failure(`${user} is not signed in to ${server}`, fix);
}

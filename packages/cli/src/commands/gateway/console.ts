// `mcpx console`: a new link to the web console of the running gateway. It lets one browser in, once.

import { accessGateway, callGateway } from "../../access/gateway-access.ts";
import { consoleUrl } from "../../console/console-url.ts";
import { openBrowser } from "../../console/open-browser.ts";
import { localUser } from "../../files/local-store.ts";
import { type Context, defineCommand, gatewayOptions } from "../../framework/command.ts";
import { Failure } from "../../framework/failure.ts";

const options = {
  ...gatewayOptions,
  open: { type: "boolean", about: "open it in the browser at once" },
  "log-out-all": { type: "boolean", about: "make no link: end every login at the console" },
} as const;

export const webConsole = defineCommand({
  usage: "[--open | --log-out-all]",
  words: { min: 0, max: 0 },
  options,
  examples: [
    ["mcpx console", "a link for one browser, good for ten minutes"],
    ["mcpx console --open", "open the link in the browser"],
    ["mcpx console --log-out-all", "end every login, and the links nobody has used yet"],
  ],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { options, output } = context;
  const access = accessGateway(context, { sub: `cli:${localUser()}`, topics: [], admin: true });
  const entrance = await access.enter();
  if (options["log-out-all"]) {
    await callGateway(entrance, "POST", "/admin/console-logouts", {});
    if (options.json) output.json({});
    else output.line("everybody is logged out");
    return 0;
  }
  const { path } = await callGateway(entrance, "POST", "/admin/console-links", {});
  const url = consoleUrl(entrance.url, String(path));
  if (options.json) output.json({ url });
  else output.line(url);
  if (options.open && !(await openBrowser(url))) {
    throw new Failure("no browser could be opened", "open the link yourself");
  }
  return 0;
}

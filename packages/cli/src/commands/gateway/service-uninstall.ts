// `sudo mcpx service uninstall`: undoes what install has done. Data and user stay unless they are to go as well.
import { type Context, defineCommand } from "../../framework/command.ts";
import { serviceFacts } from "../../service/facts.ts";
import { launcherUsers } from "../../service/launcher-steps.ts";
import { runSteps } from "../../service/run-steps.ts";
import { uninstallSteps } from "../../service/steps.ts";
import { checkRoot, ownProgram, serviceOptions } from "./service-install.ts";

const options = {
  ...serviceOptions,
  purge: { type: "boolean", about: "remove its user and ALL ITS DATA too" },
  dry: { type: "boolean", about: "show what would be done, and do nothing" },
} as const;

export const serviceUninstall = defineCommand({
  usage: "[--purge] [--dry] [--user NAME] [--root DIR]",
  words: { min: 0, max: 0 },
  options,
  examples: [["mcpx service uninstall", "as root: stops it and takes its unit away; the data stays"]],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { options, output } = context;
  const { user, root, dry, purge } = options;
  const wish = { user, root, platform: process.platform, program: ownProgram() };
  const facts = serviceFacts({ ...wish, runAs: launcherUsers(serviceFacts(wish)) });
  const steps = uninstallSteps(facts, { isPurged: purge });
  if (dry) {
    const shown = steps.map((step) => ({ what: step.what, isDone: step.isDone() }));
    if (options.json) output.json({ steps: shown });
    else for (const { what, isDone } of shown) output.line(`${isDone ? "done  " : "would "}  ${what}`);
    return 0;
  }
  checkRoot(facts.platform);
  const done = runSteps(steps, output, { isQuiet: options.json });
  if (options.json) output.json({ done: done.map(({ what }) => what) });
  else if (!purge) output.note(`${facts.dataDir} and the user ${facts.user} stay; --purge takes them away`);
  return 0;
}

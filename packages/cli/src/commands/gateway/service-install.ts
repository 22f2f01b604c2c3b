// `sudo mcpx service install`: the gateway as a user of its own, whose keys and data no program of yours reaches. Shown
// first with --dry; what fails is undone.
import { type Context, defineCommand } from "../../framework/command.ts";
import { Failure } from "../../framework/failure.ts";
import { programFaults } from "../../service/check-program.ts";
import { serviceFacts } from "../../service/facts.ts";
import { launcherUsers } from "../../service/launcher-steps.ts";
import { checkRunAs } from "../../service/launcher-unit.ts";
import { runSteps } from "../../service/run-steps.ts";
import { idsOf } from "../../service/step.ts";
import { installSteps } from "../../service/steps.ts";

export const serviceOptions = {
  user: { type: "string", value: "NAME", about: "the service's user (default: mcpx)" },
  root: {
    type: "string",
    values: "directory",
    value: "DIR",
    about: "below this directory, as for an image: nothing is started",
  },
} as const;

const options = {
  ...serviceOptions,
  "run-as": {
    type: "string",
    multiple: true,
    value: "USER",
    about: 'let servers run as this user ("user" of a server)',
  },
  dry: { type: "boolean", about: "show what would be done, and do nothing" },
} as const;

export const serviceInstall = defineCommand({
  usage: "[--dry] [--user NAME] [--run-as USER] [--root DIR]",
  words: { min: 0, max: 0 },
  options,
  examples: [
    ["mcpx service install --dry", "every step and every file, without doing anything"],
    [
      "mcpx service install",
      "as root: make a user, a directory and a unit; the gateway starts now and with the machine",
    ],
    ["mcpx service install --run-as notes", 'servers with "user": "notes" run as that user'],
    ["mcpx service uninstall", "as root: undo the installation; data and user stay unless --purge is given"],
  ],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { options, output } = context;
  const { user, root, dry, "run-as": runAs } = options;
  const wish = { user, root, platform: process.platform, program: ownProgram() };
  const known = launcherUsers(serviceFacts(wish));
  const facts = serviceFacts({ ...wish, runAs: [...known, ...runAs] });
  checkRunAs(facts, (name) => (idsOf(facts, name)?.uid ?? 0) !== 0);
  const steps = installSteps(facts);
  const faults = programFaults([process.execPath, process.argv[1] ?? ""]);
  if (dry) {
    if (options.json) {
      output.json({
        steps: steps.map((step) => ({ what: step.what, text: step.text, isDone: step.isDone() })),
        faults,
      });
    } else {
      for (const { what, text, isDone } of steps) {
        output.line(`${isDone() ? "exists" : "would "}  ${what}`);
        for (const line of text?.trimEnd().split("\n") ?? []) output.line(`          ${line}`);
      }
      for (const fault of faults) output.note(`would be refused: ${fault}`);
    }
    return 0;
  }
  checkRoot(facts.platform);
  if (faults.length > 0) {
    const fix = "install mcpx and Node for everybody, owned by root: sudo npm install --global mcpx";
    throw new Failure(`a service cannot run this program safely: ${faults[0]}`, fix, {
      details: faults.slice(1),
    });
  }
  const done = runSteps(steps, output, { isQuiet: options.json });
  if (options.json)
    output.json({ done: done.map(({ what }) => what), user: facts.user, dataDir: facts.dataDir });
  else for (const line of nextLines(facts)) output.note(line);
  return 0;
}

export function ownProgram(): string[] {
  return [process.execPath, ...process.execArgv, process.argv[1] ?? "mcpx"];
}

export function checkRoot(platform: string): void {
  if (process.getuid?.() === 0) return;
  const how = platform === "linux" ? "sudo mcpx service …" : "sudo";
  throw new Failure("only root makes users and services", `run it with ${how}; --dry shows what it would do`);
}

function nextLines({ user, dataDir }: { user: string; dataDir: string }): string[] {
  const as = `sudo -u ${user} mcpx`;
  return [
    `its configuration: ${dataDir}/mcpx.json (as root); its link: ${as} console --data ${dataDir}`,
    `a token for an agent: ${as} token --id NAME --tools '**' --data ${dataDir}`,
  ];
}

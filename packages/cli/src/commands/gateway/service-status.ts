// `mcpx service status`: whether the gateway runs as a user of its own, and whether that keeps you out, which is what it
// is for.
import { accessSync, constants, existsSync, readFileSync, statSync } from "node:fs";
import { type Context, defineCommand } from "../../framework/command.ts";
import { below, type ServiceFacts, serviceFacts } from "../../service/facts.ts";
import { launcherSteps, launcherUsers } from "../../service/launcher-steps.ts";
import { installSteps, unitText, userIds } from "../../service/steps.ts";
import { ownProgram, serviceOptions } from "./service-install.ts";

export const serviceStatus = defineCommand({
  usage: "[--user NAME] [--root DIR]",
  words: { min: 0, max: 0 },
  options: serviceOptions,
  examples: [["mcpx service status", "as yourself: can you reach what it keeps?"]],
  run,
});

interface Line {
  isGood: boolean;
  text: string;
}

async function run(context: Context<typeof serviceOptions>): Promise<number> {
  const { options, output } = context;
  const { user, root } = options;
  const wish = { user, root, platform: process.platform, program: ownProgram() };
  const facts = serviceFacts({ ...wish, runAs: launcherUsers(serviceFacts(wish)) });
  const lines = linesOf(facts);
  const isGood = lines.every((line) => line.isGood);
  if (options.json) output.json({ ok: isGood, findings: lines });
  else for (const line of lines) output.line(`${line.isGood ? "ok     " : "FAULT  "}  ${line.text}`);
  return isGood ? 0 : 1;
}

function linesOf(facts: ServiceFacts): Line[] {
  const unit = below(facts, facts.unitPath);
  if (!existsSync(unit))
    return [{ isGood: false, text: "there is no service; make one with sudo mcpx service install" }];
  const isOurs = readFileSync(unit, "utf8") === unitText(facts);
  const start = installSteps(facts).at(-1);
  const ids = userIds(facts);
  return [
    {
      isGood: isOurs,
      text: isOurs
        ? `${facts.unitPath} is as this version writes it`
        : `${facts.unitPath} differs from what this version writes`,
    },
    {
      isGood: ids !== undefined,
      text: ids === undefined ? `there is no user ${facts.user}` : `it runs as ${facts.user} (${ids.uid})`,
    },
    ...dataLines(facts, ids?.uid),
    ...launcherSteps(facts).map((step) => ({
      isGood: step.isDone(),
      text: step.isDone() ? `in place: ${step.what}` : `missing: ${step.what}`,
    })),
    {
      isGood: start?.isDone() === true,
      text: start?.isDone() === true ? `in place: ${start.what}` : "it is not running",
    },
  ];
}

function dataLines(facts: ServiceFacts, uid: number | undefined): Line[] {
  const dir = below(facts, facts.dataDir);
  if (!existsSync(dir)) return [{ isGood: false, text: `${facts.dataDir} is not there` }];
  const stats = statSync(dir);
  const isClosed = stats.uid === uid && (stats.mode & 0o077) === 0;
  const who = process.getuid?.() === 0 ? "root" : "you";
  const mayRead = canRead(dir);
  const isKept = who === "root" || !mayRead;
  return [
    {
      isGood: isClosed,
      text: isClosed
        ? `only ${facts.user} may open ${facts.dataDir}`
        : `other users than ${facts.user} may open ${facts.dataDir}`,
    },
    { isGood: isKept, text: `${who} ${mayRead ? "can" : "cannot"} read it` },
  ];
}

function canRead(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

// What `mcpx up` shows when it is ready: where it is, and what to try next. Pure.

import { dataDirOf } from "../files/data-dir.ts";
import type { Surroundings } from "../framework/command.ts";
import { version } from "../framework/version.ts";

export interface UpFacts {
  url: string;
  dataDir: string;
  configPath: string | undefined;
  /** Of the tree, those that are off not among them. */
  servers: number;
  /** Lets one browser in; absent where there is no console. */
  link?: string | undefined;
  isDemo?: boolean | undefined;
  /** Whether there is no approver yet. */
  needsApprover?: boolean | undefined;
  /** The demo's board is about to come. */
  hasBoard?: boolean | undefined;
}

export function upScreen(
  { program, env, output }: Pick<Surroundings, "program" | "env" | "output">,
  { url, dataDir, configPath, servers, link, isDemo, hasBoard, needsApprover }: UpFacts,
): string {
  const { paint } = output;
  const players = hasBoard ? "a robot, an agent and an emulated board" : "a robot and an agent";
  const data = isUsual(dataDir, env) ? "" : ` --data ${shellWord(dataDir)}`;
  const lines = [
    "",
    `  ${paint("bold", "mcpx")} ${version} is ready at ${paint("cyan", url)}`,
    ...(link === undefined ? [] : [`  ${paint("dim", "console")} ${paint("cyan", link)}`]),
    ...(isDemo ? [`  ${paint("dim", "demo")}    ${players} to try; --no-demo leaves them out`] : []),
    `  ${paint("dim", "data")}    ${shortPath(dataDir, env.HOME)}`,
    ...(configPath === undefined ? [] : [`  ${paint("dim", "config")}  ${shortPath(configPath, env.HOME)}`]),
    ...(servers === 0 ? [] : [`  ${paint("dim", "servers")} ${servers}, each started when it is first used`]),
    ...(needsApprover ? [`  ${paint("dim", "approve")} ${enrolText(link !== undefined, program)}`] : []),
    "",
    `  ${paint("dim", "Try in other terminals:")}`,
    ...(servers === 0 ? [] : [`    ${program} tree${data}`]),
    `    ${program} join demo${data}`,
    `    ${program} tail demo${data}`,
    `    ${program} say demo Hello${data}`,
    `    ${program} token --topic demo --id alice --level full${data}`,
    "",
    `  ${paint("dim", "Ctrl-C stops the gateway.")}`,
    "",
  ];
  return lines.join("\n");
}

/** A passkey first: no program can use it alone. */
function enrolText(hasConsole: boolean, program: string): string {
  const terminal = `${program} key new, then ${program} key enroll NAME`;
  return hasConsole
    ? `there is no approver yet: register a passkey at the console, or ${terminal}`
    : `there is no approver yet: ${terminal}`;
}

function shortPath(path: string, home: string | undefined): string {
  return home && path.startsWith(`${home}/`) ? `~${path.slice(home.length)}` : path;
}

/** Whether commands in another terminal find it by themselves; a variable of this one they may not have. */
function isUsual(dataDir: string, env: Surroundings["env"]): boolean {
  return dataDir === dataDirOf({ env: { ...env, MCPX_DATA: undefined }, cwd: "/" }, { data: undefined });
}

/** Ready to be pasted. */
function shellWord(path: string): string {
  return /^[A-Za-z0-9._~/+@:-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

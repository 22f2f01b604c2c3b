// The steps that make launchers, and which there are. [B-KEY-3]
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { below, type ServiceFacts } from "./facts.ts";
import { launcherService, launcherServicePath, launcherSocket, launcherSocketPath } from "./launcher-unit.ts";
import { command, fileStep, isLink, type Step } from "./step.ts";

const wants = "/etc/systemd/system/sockets.target.wants";
const enabled = /^mcpx-as@(.+)\.socket$/;

/** Users that have one. */
export function launcherUsers(facts: ServiceFacts): string[] {
  const dir = below(facts, wants);
  if (!existsSync(dir)) return [];
  return readdirSync(dir).flatMap((name) => enabled.exec(name)?.[1] ?? []);
}

export function launcherSteps(facts: ServiceFacts): Step[] {
  if (facts.runAs.length === 0) return [];
  return [
    fileStep(facts, launcherSocketPath, launcherSocket(facts)),
    fileStep(facts, launcherServicePath, launcherService(facts)),
    ...facts.runAs.map((user) => enableStep(facts, user)),
  ];
}

function enableStep(facts: ServiceFacts, user: string): Step {
  const { root } = facts;
  const unit = `mcpx-as@${user}.socket`;
  const at = root === "" ? [] : [`--root=${root}`];
  const now = root === "" ? ["--now"] : [];
  const enable = ["systemctl", ...at, "enable", ...now, unit];
  const link = below(facts, `${wants}/${unit}`);
  const isActive = () => root !== "" || spawnSync("systemctl", ["is-active", "--quiet", unit]).status === 0;
  return {
    what: `let the gateway start servers as ${user}`,
    text: enable.join(" "),
    isDone: () => isLink(link) && isActive(),
    isThere: () => isLink(link),
    work() {
      if (root === "") command(["systemctl", "daemon-reload"]);
      command(enable);
    },
    // Stopping the launcher also stops the servers that it has started.
    undo() {
      command(["systemctl", ...at, "disable", ...now, unit]);
      if (root === "") command(["systemctl", "stop", `mcpx-as@${user}.service`]);
    },
  };
}

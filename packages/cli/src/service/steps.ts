// What installing a service does, one step after the other, each with what it looks like and how it is undone. [B-KEY-3]
import { spawnSync } from "node:child_process";
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { Failure } from "../framework/failure.ts";
import { below, type ServiceFacts } from "./facts.ts";
import { launchdPlist } from "./launchd-plist.ts";
import { launcherSteps } from "./launcher-steps.ts";
import { command, fileStep, idsOf, isLink, type Step } from "./step.ts";
import { systemdUnit } from "./systemd-unit.ts";

export function installSteps(facts: ServiceFacts): Step[] {
  return [
    userStep(facts),
    dataStep(facts),
    ...launcherSteps(facts),
    fileStep(facts, facts.unitPath, unitText(facts)),
    ...startSteps(facts),
  ];
}

/** In the order they are done. Data and user stay, unless they are to go as well. */
export function uninstallSteps(facts: ServiceFacts, { isPurged }: { isPurged: boolean }): Step[] {
  const [user, data, ...others] = installSteps(facts);
  const gone = [...others.reverse(), ...(isPurged ? [data, user] : [])];
  return gone.flatMap((step) => (step?.undo === undefined ? [] : [removal(step, step.undo)]));
}

function removal(step: Step, undo: () => void): Step {
  return { what: `undo: ${step.what}`, isDone: () => !(step.isThere ?? step.isDone)(), work: undo };
}

export function unitText(facts: ServiceFacts): string {
  return facts.platform === "linux" ? systemdUnit(facts) : launchdPlist(facts);
}

function userStep(facts: ServiceFacts): Step {
  const { user, dataDir, root, platform } = facts;
  const prefix = root === "" ? [] : ["--prefix", root];
  const isMac = platform === "darwin";
  const add = isMac
    ? ["sysadminctl", "-addUser", `_${user}`, "-roleAccount", "-home", dataDir, "-shell", "/usr/bin/false"]
    : [
        ...["useradd", ...prefix, "--system", "--user-group", "--no-create-home"],
        ...["--home-dir", dataDir, "--shell", "/usr/sbin/nologin", "--comment", "mcpx gateway", user],
      ];
  const remove = isMac ? ["sysadminctl", "-deleteUser", `_${user}`] : ["userdel", ...prefix, user];
  return {
    what: `make the user ${user}, who cannot log in`,
    text: add.join(" "),
    isDone: () => userIds(facts) !== undefined,
    work: () => command(add),
    undo() {
      command(remove);
      // The group may stay when its user is removed.
      const groups = below(facts, "/etc/group");
      const isLeft =
        !isMac &&
        readFileSync(groups, "utf8")
          .split("\n")
          .some((line) => line.startsWith(`${user}:`));
      if (isLeft) command(["groupdel", ...prefix, user]);
    },
  };
}

function dataStep(facts: ServiceFacts): Step {
  const dir = below(facts, facts.dataDir);
  return {
    what: `make ${facts.dataDir}, which only ${facts.user} may open`,
    isDone: () => existsSync(dir),
    work() {
      const ids = userIds(facts);
      if (ids === undefined) throw new Failure(`there is no user ${facts.user}`);
      mkdirSync(dirname(dir), { recursive: true });
      mkdirSync(dir, { mode: 0o700 });
      chmodSync(dir, 0o700);
      chownSync(dir, ids.uid, ids.gid);
    },
    undo: () => rmSync(dir, { recursive: true }),
  };
}

function startSteps(facts: ServiceFacts): Step[] {
  const { root, platform, unitPath, label } = facts;
  if (platform === "darwin") {
    const isLoaded = () => spawnSync("launchctl", ["print", `system/${label}`]).status === 0;
    const load = ["launchctl", "bootstrap", "system", unitPath];
    const stop = ["launchctl", "bootout", `system/${label}`];
    const what = "start it now and with the machine";
    return [
      { what, text: load.join(" "), isDone: isLoaded, work: () => command(load), undo: () => command(stop) },
    ];
  }
  if (root !== "") {
    const enable = ["systemctl", `--root=${root}`, "enable", "mcpx.service"];
    const link = below(facts, "/etc/systemd/system/multi-user.target.wants/mcpx.service");
    const what = "start it with the machine";
    const undo = () => command(["systemctl", `--root=${root}`, "disable", "mcpx.service"]);
    return [{ what, text: enable.join(" "), isDone: () => isLink(link), work: () => command(enable), undo }];
  }
  const start = ["systemctl", "enable", "--now", "mcpx.service"];
  return [
    {
      what: "start it now and with the machine",
      text: `systemctl daemon-reload && ${start.join(" ")}`,
      isDone: () => spawnSync("systemctl", ["is-active", "--quiet", "mcpx.service"]).status === 0,
      work() {
        command(["systemctl", "daemon-reload"]);
        try {
          command(start);
        } catch (error) {
          // It may be enabled, and tried again and again, though it did not start.
          spawnSync("systemctl", ["disable", "--now", "mcpx.service"]);
          throw error;
        }
      },
      undo: () => command(["systemctl", "disable", "--now", "mcpx.service"]),
    },
  ];
}

/** As the machine, or what is below the root, knows them. */
export function userIds(facts: ServiceFacts): { uid: number; gid: number } | undefined {
  if (facts.platform === "darwin") {
    const { status, stdout } = spawnSync("id", ["-u", `_${facts.user}`], { encoding: "utf8" });
    return status === 0 ? { uid: Number(stdout), gid: Number(stdout) } : undefined;
  }
  return idsOf(facts, facts.user);
}

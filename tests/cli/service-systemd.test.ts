// The service on a machine whose systemd is a real one: installed, run, looked at from inside, ended, and taken away.
// [B-KEY-3]
import { join } from "node:path";
import { expect, test } from "vitest";
import { type Machine, machineFault, startMachine } from "./support/systemd-machine.ts";

const data = "/var/lib/mcpx";
const games = { uid: 5, gid: 60 };
const nobody = { uid: 65_534, gid: 65_534 };
const fault = machineFault();

const systemctl = (machine: Machine, ...words: string[]) => machine.run("systemctl", ...words).out.trim();
const mainPid = (machine: Machine) => Number(systemctl(machine, "show", "-p", "MainPID", "--value", "mcpx"));

function serviceUser(machine: Machine): { uid: number; gid: number } {
  const [, , uid, gid] = machine.run("getent", "passwd", "mcpx").out.split(":");
  return { uid: Number(uid), gid: Number(gid) };
}

/** A server of games, and the same one of the gateway's own user, who may not write there. */
function configure(machine: Machine): void {
  const shred = "/opt/mcpx/tests/gates/support/shredder.ts";
  const [command = "", ...args] = [
    ...machine.mcpx("/opt/mcpx").slice(0, 2),
    shred,
    "/var/lib/games-of-mcpx/traces",
  ];
  const papers = { command, args, trusted: true };
  const config = { mcpServers: { papers: { ...papers, user: "games" }, plain: papers } };
  machine.run("install", "-d", "-m", "700", "-o", "games", "-g", "games", "/var/lib/games-of-mcpx");
  machine.run("sh", "-c", 'printf %s "$1" >"$2"', "sh", JSON.stringify(config), join(data, "mcpx.json"));
}

test.skipIf(fault !== undefined)(
  "[B-KEY-3] a real systemd starts the gateway and its launchers as their users, hardened, again after a crash, and forgets them",
  { timeout: 180_000 },
  async () => {
    const machine = await startMachine();
    const mcpx = (...args: string[]) => machine.run(...machine.mcpx("/opt/mcpx", ...args));
    const asService = (...args: string[]) =>
      machine.runAs(serviceUser(machine), ...machine.mcpx("/opt/mcpx", ...args, "--data", data));
    expect(mcpx("service", "install", "--run-as", "games")).toMatchObject({
      status: 0,
      err: expect.any(String),
    });
    const knock = () => machine.run("bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/6279").status;
    const ready = () => expect.poll(knock, { timeout: 60_000, interval: 200 }).toBe(0);
    await ready();
    configure(machine);
    systemctl(machine, "restart", "mcpx");
    await ready();

    const status = machine.run("cat", `/proc/${mainPid(machine)}/status`).out;
    expect(status).toMatch(new RegExp(`^Uid:\\s+${serviceUser(machine).uid}\\s`, "m"));
    for (const line of [/^CapEff:\s+0+$/m, /^CapBnd:\s+0+$/m, /^NoNewPrivs:\s+1$/m, /^Seccomp:\s+2$/m]) {
      expect(status).toMatch(line);
    }
    // The server runs as its user, through a launcher that systemd has started when it was asked for.
    expect(asService("call", "papers.look", "{}")).toMatchObject({ status: 0 });
    expect(machine.run("stat", "-c", "%U", "/var/lib/games-of-mcpx/traces").out.trim()).toBe("games");
    expect(asService("call", "plain.look", "{}").status).not.toBe(0);
    expect(systemctl(machine, "is-active", "mcpx-as@games.service")).toBe("active");

    // Others reach neither store nor process, nor the launcher; the controls do.
    const pid = mainPid(machine);
    const tries = [`cat ${data}/state.db`, `cat /proc/${pid}/environ`, `kill -0 ${pid}`];
    for (const script of tries) {
      expect(machine.runAs(nobody, "sh", "-c", script).status, script).not.toBe(0);
      expect(machine.runAs(games, "sh", "-c", script).status, script).not.toBe(0);
    }
    expect(machine.runAs(serviceUser(machine), "sh", "-c", `cat ${data}/state.db`).status).toBe(0);
    expect(machine.runAs(serviceUser(machine), "sh", "-c", `kill -0 ${pid}`).status).toBe(0);

    expect(mcpx("service", "status").status).toBe(0);
    machine.run("kill", "-9", String(pid));
    await expect.poll(() => mainPid(machine), { timeout: 60_000 }).not.toBeOneOf([0, pid]);
    await ready();

    expect(mcpx("service", "uninstall", "--purge").status).toBe(0);
    const left = machine.run("systemctl", "list-units", "--all", "--plain", "--no-legend", "mcpx*").out;
    expect(left.split("\n").filter((line) => line !== "")).toEqual([]);
    expect(machine.run("getent", "passwd", "mcpx").status).not.toBe(0);
    expect(machine.run("test", "-e", data).status).toBe(1);
  },
);

test.skipIf(fault !== undefined)(
  "[B-KEY-3] where systemd cannot start it, everything is undone, and systemd knows nothing of it any more",
  { timeout: 120_000 },
  async () => {
    const machine = await startMachine();
    const files = () =>
      machine.run("find", "/etc/systemd/system", "/var/lib", "-maxdepth", "2", "-not", "-type", "d").out;
    const before = files();
    // The unit has a /tmp of its own: what is there is not to be seen by it.
    const { status, out, err } = machine.run(
      ...machine.mcpx("/tmp/mcpx", "service", "install", "--run-as", "games"),
    );
    expect([status, err]).toEqual([1, expect.stringContaining("systemctl enable --now mcpx.service failed")]);
    expect(out).toMatch(/FAILED {2}start it now[\s\S]*undone {2}make the user mcpx/);
    expect(files()).toBe(before);
    expect(systemctl(machine, "show", "-p", "LoadState", "--value", "mcpx")).toBe("not-found");
    expect(systemctl(machine, "show", "-p", "ActiveState", "--value", "mcpx")).toBe("inactive");
    expect(machine.run("getent", "passwd", "mcpx").status).not.toBe(0);
  },
);

// The launchers of a service: for each user that servers run as, a socket that only the gateway's user may open, and a
// process of that user behind it. systemd alone changes users; no part of mcpx has root. Pure. [B-KEY-3]
import { Failure } from "../framework/failure.ts";
import { launchersDir, type ServiceFacts } from "./facts.ts";
import { unitWord } from "./systemd-unit.ts";

export const launcherSocketPath = "/etc/systemd/system/mcpx-as@.socket";
export const launcherServicePath = "/etc/systemd/system/mcpx-as@.service";

export function launcherSocket({ user }: ServiceFacts): string {
  return `${[
    "[Unit]",
    "Description=mcpx servers as %i",
    "",
    "[Socket]",
    `ListenStream=${launchersDir}/%i.sock`,
    `SocketUser=${user}`,
    "SocketMode=0600",
    "DirectoryMode=0755",
    "RemoveOnStop=yes",
    "",
    "[Install]",
    "WantedBy=sockets.target",
  ].join("\n")}\n`;
}

/** What the servers may do beyond this is their user's: its files are why they run as that user. */
export function launcherService({ program }: ServiceFacts): string {
  return `${[
    "[Unit]",
    "Description=mcpx servers as %i",
    "",
    "[Service]",
    "Type=exec",
    "User=%i",
    `ExecStart=${[...program, "service", "launch"].map(unitWord).join(" ")}`,
    "UMask=0077",
    "CapabilityBoundingSet=",
    "AmbientCapabilities=",
    "NoNewPrivileges=yes",
    "ProtectSystem=full",
    "PrivateDevices=yes",
    "ProtectClock=yes",
    "ProtectHostname=yes",
    "ProtectKernelTunables=yes",
    "ProtectKernelModules=yes",
    "ProtectKernelLogs=yes",
    "ProtectControlGroups=yes",
    "RestrictRealtime=yes",
    "RestrictSUIDSGID=yes",
    "LockPersonality=yes",
    "SystemCallArchitectures=native",
    "",
  ].join("\n")}`;
}

/** Throws where servers cannot, or should not, run as one of them. `isThere`: known to the machine, and not root. */
export function checkRunAs(
  { user, platform, runAs }: ServiceFacts,
  isThere: (name: string) => boolean,
): void {
  if (runAs.length > 0 && platform !== "linux") {
    throw new Failure("servers run as other users only with systemd", "leave out --run-as");
  }
  for (const name of runAs) {
    if (name === user) throw new Failure(`servers run as ${user} anyway`, `leave out --run-as ${user}`);
    if (isThere(name)) continue;
    throw new Failure(
      `servers cannot run as ${name}`,
      `name a user there is and who is not root: useradd ${name}`,
    );
  }
}

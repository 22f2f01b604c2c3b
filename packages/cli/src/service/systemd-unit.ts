// The gateway as a unit of systemd: a user of its own, and nothing it does not need. Pure. [B-KEY-3]
import { launchersDir, type ServiceFacts } from "./facts.ts";

/** What is left out is needed: V8 writes code (MemoryDenyWriteExecute), and servers are anywhere (IPAddressDeny). */
export function systemdUnit({ program, user, dataDir }: ServiceFacts): string {
  const start = [...program, "up", "--data", dataDir, "--no-demo"].map(unitWord).join(" ");
  return `${[
    "[Unit]",
    "Description=mcpx gateway",
    "Wants=network-online.target",
    "After=network-online.target",
    "",
    "[Service]",
    "Type=exec",
    `User=${user}`,
    `Group=${user}`,
    `ExecStart=${start}`,
    `Environment=MCPX_LAUNCHERS=${launchersDir}`,
    "ExecReload=/bin/kill -HUP $MAINPID",
    "Restart=on-failure",
    "RestartSec=2",
    `ReadWritePaths=${unitWord(dataDir)}`,
    "UMask=0077",
    "CapabilityBoundingSet=",
    "AmbientCapabilities=",
    "NoNewPrivileges=yes",
    "ProtectSystem=strict",
    "ProtectHome=yes",
    "PrivateTmp=yes",
    "PrivateDevices=yes",
    "PrivateUsers=yes",
    "ProtectHostname=yes",
    "ProtectClock=yes",
    "ProtectKernelTunables=yes",
    "ProtectKernelModules=yes",
    "ProtectKernelLogs=yes",
    "ProtectControlGroups=yes",
    "ProtectProc=invisible",
    "ProcSubset=pid",
    "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
    "RestrictNamespaces=yes",
    "RestrictRealtime=yes",
    "RestrictSUIDSGID=yes",
    "LockPersonality=yes",
    "RemoveIPC=yes",
    "KeyringMode=private",
    "SystemCallArchitectures=native",
    "SystemCallFilter=@system-service",
    "SystemCallFilter=~@privileged @resources",
    "SystemCallErrorNumber=EPERM",
    "",
    "[Install]",
    "WantedBy=multi-user.target",
  ].join("\n")}\n`;
}

/** As systemd reads words: quotes, and signs that mean something else there. */
export function unitWord(word: string): string {
  const text = word
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')
    .replaceAll("%", "%%")
    .replaceAll("$", "$$$$");
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(word) ? text : `"${text}"`;
}

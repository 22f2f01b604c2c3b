// The commands of “Run”, in the order help shows them; each is a file of this folder.
import { type ListedCommand, listed } from "../../framework/command.ts";

export const gatewayCommands: readonly ListedCommand[] = [
  listed("up", "run the gateway", async () => (await import("./up.ts")).up),
  listed(
    "console",
    "print a link that logs a browser in at the web console",
    async () => (await import("./console.ts")).webConsole,
  ),
  listed(
    "doctor",
    "find faults, and the command that mends each",
    async () => (await import("./doctor.ts")).doctor,
  ),
  listed(
    "trust",
    "accept the configuration of another directory",
    async () => (await import("./trust.ts")).trust,
  ),
  listed(
    "migrate",
    "move the state to PostgreSQL, or back",
    async () => (await import("./migrate.ts")).migrate,
  ),
  listed(
    "config check",
    "find every fault of a configuration, and start nothing",
    async () => (await import("./config-check.ts")).configCheck,
  ),
  listed(
    "config print",
    "show the configuration in use",
    async () => (await import("./config-print.ts")).configPrint,
  ),
  listed(
    "config keys",
    "explain the keys of the configuration",
    async () => (await import("./config-keys.ts")).configKeys,
  ),
  listed(
    "config schema",
    "print the JSON Schema of the configuration, for editors",
    async () => (await import("./config-schema.ts")).configSchemaCommand,
  ),
  listed(
    "conform",
    "test this gateway or another implementation",
    async () => (await import("./conform.ts")).conform,
  ),
  listed(
    "conform codec",
    "test a codec of the device protocol",
    async () => (await import("./conform-codec.ts")).conformCodecCommand,
  ),
  listed(
    "conform stub",
    "test the stub of a device",
    async () => (await import("./conform-stub.ts")).conformStubCommand,
  ),
  listed(
    "service install",
    "run the gateway as a user of its own, with the machine",
    async () => (await import("./service-install.ts")).serviceInstall,
  ),
  listed(
    "service status",
    "show whether the service keeps you out of its data",
    async () => (await import("./service-status.ts")).serviceStatus,
  ),
  listed(
    "service launch",
    "start servers as another user; systemd runs it",
    async () => (await import("./service-launch.ts")).serviceLaunch,
  ),
  listed(
    "service uninstall",
    "undo service install",
    async () => (await import("./service-uninstall.ts")).serviceUninstall,
  ),
  listed(
    "backup",
    "copy the stores to a new directory, or verify a copy",
    async () => (await import("./backup.ts")).backup,
  ),
];

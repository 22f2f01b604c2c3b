// The commands of “Devices”, in the order help shows them; each is a file of this folder.
import { type ListedCommand, listed } from "../../framework/command.ts";

export const deviceCommands: readonly ListedCommand[] = [
  listed(
    "devices",
    "show the microcontrollers of the configuration",
    async () => (await import("./devices.ts")).devices,
  ),
  listed(
    "devices probe",
    "ask what is on a line, and show what to configure",
    async () => (await import("./devices-probe.ts")).devicesProbe,
  ),
  listed(
    "devices monitor",
    "show the frames on a line as they come",
    async () => (await import("./devices-monitor.ts")).devicesMonitor,
  ),
  listed(
    "devices sim",
    "start an emulated board, for those who have none",
    async () => (await import("./devices-sim.ts")).devicesSim,
  ),
];

// The commands of “Tools of the tree”, in the order help shows them; each is a file of this folder.
import { type ListedCommand, listed } from "../../framework/command.ts";

export const toolCommands: readonly ListedCommand[] = [
  listed("tools", "list the tools of the tree", async () => (await import("./tools.ts")).tools),
  listed(
    "tools show",
    "show all that is known of one tool",
    async () => (await import("./tools-show.ts")).toolsShow,
  ),
  listed(
    "tools enable",
    "make a disabled tool available again",
    async () => (await import("./tools-enable.ts")).toolsEnable,
  ),
  listed(
    "tools disable",
    "disable a tool: it is neither listed nor called",
    async () => (await import("./tools-disable.ts")).toolsDisable,
  ),
  listed("tools rename", "rename a tool", async () => (await import("./tools-rename.ts")).toolsRename),
  listed(
    "tools describe",
    "describe a tool in other words",
    async () => (await import("./tools-describe.ts")).toolsDescribe,
  ),
  listed(
    "tools fix",
    "give an argument of a tool a fixed value",
    async () => (await import("./tools-fix.ts")).toolsFix,
  ),
  listed(
    "tools diff",
    "show what has changed in a tool",
    async () => (await import("./tools-diff.ts")).toolsDiff,
  ),
  listed(
    "tools accept",
    "accept a quarantined tool as it is now",
    async () => (await import("./tools-accept.ts")).toolsAccept,
  ),
];

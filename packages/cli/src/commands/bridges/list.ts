// The commands of “Bridges to chat platforms and phones”, in the order help shows them; each is a file of this folder.
import { type ListedCommand, listed } from "../../framework/command.ts";

export const bridgeCommands: readonly ListedCommand[] = [
  listed(
    "bridge add",
    "carry rooms to a chat platform or to phones",
    async () => (await import("./bridge-add.ts")).bridgeAdd,
  ),
  listed(
    "bridge list",
    "show the bridges, how they are, and who is linked",
    async () => (await import("./bridge-list.ts")).bridgeList,
  ),
  listed(
    "bridge link",
    "print a code that links a person of the platform",
    async () => (await import("./bridge-link.ts")).bridgeLink,
  ),
  listed(
    "bridge unlink",
    "end the links of a person",
    async () => (await import("./bridge-unlink.ts")).bridgeUnlink,
  ),
  listed(
    "bridge enroll",
    "let presses of linked approvers count as approvals",
    async () => (await import("./bridge-enroll.ts")).bridgeEnroll,
  ),
  listed(
    "bridge remove",
    "remove a bridge, with its links and cards",
    async () => (await import("./bridge-remove.ts")).bridgeRemove,
  ),
];

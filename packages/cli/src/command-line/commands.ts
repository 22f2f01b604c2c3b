// Every command with its summary, in the order help shows them. What a command takes and does is in a file of its own,
// loaded only when it is asked for: most command lines need one of them.
import { bridgeCommands } from "../commands/bridges/list.ts";
import { decisionCommands } from "../commands/decisions/list.ts";
import { deviceCommands } from "../commands/devices/list.ts";
import { gatewayCommands } from "../commands/gateway/list.ts";
import { keyCommands } from "../commands/keys/list.ts";
import { roomCommands } from "../commands/rooms/list.ts";
import { toolCommands } from "../commands/tools/list.ts";
import { treeCommands } from "../commands/tree/list.ts";
import { type ListedCommand, listed } from "../framework/command.ts";

export interface Section {
  title: string;
  commands: readonly ListedCommand[];
}

export const sections: readonly Section[] = [
  { title: "Run", commands: gatewayCommands },
  { title: "Servers and clients of the tree", commands: treeCommands },
  { title: "Tools of the tree", commands: toolCommands },
  { title: "Rooms", commands: roomCommands },
  { title: "Decisions", commands: decisionCommands },
  { title: "Bridges to chat platforms and phones", commands: bridgeCommands },
  { title: "Devices", commands: deviceCommands },
  { title: "Tokens, keys and certificates", commands: keyCommands },
  {
    title: "Your shell",
    commands: [
      listed(
        "completion",
        "print a script with which your shell completes mcpx",
        async () => (await import("../commands/completion.ts")).completion,
      ),
    ],
  },
];

export const commands: readonly ListedCommand[] = sections.flatMap((section) => section.commands);

// The commands of “Rooms”, in the order help shows them; each is a file of this folder.
import { type ListedCommand, listed } from "../../framework/command.ts";

export const roomCommands: readonly ListedCommand[] = [
  listed(
    "join",
    "join a room: talk, call tools, decide on proposals",
    async () => (await import("./join.ts")).join,
  ),
  listed("serve", "put an MCP server into a room", async () => (await import("./serve.ts")).serve),
  listed("peers", "show who is in a room", async () => (await import("./peers.ts")).peers),
  listed("tail", "watch a room", async () => (await import("./tail.ts")).tail),
  listed(
    "verify",
    "verify the signatures of a room's history",
    async () => (await import("./verify.ts")).verify,
  ),
  listed("say", "say something in a room", async () => (await import("./say.ts")).say),
  listed(
    "capabilities",
    "show which capabilities were granted in rooms",
    async () => (await import("./capabilities.ts")).capabilities,
  ),
  listed(
    "capabilities revoke",
    "revoke a capability",
    async () => (await import("./capabilities-revoke.ts")).capabilitiesRevoke,
  ),
];

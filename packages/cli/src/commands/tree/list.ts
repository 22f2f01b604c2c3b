// The commands of “Servers and clients of the tree”, in the order help shows them; each is a file of this folder.
import { type ListedCommand, listed } from "../../framework/command.ts";

export const treeCommands: readonly ListedCommand[] = [
  listed("add", "add a server to the tree", async () => (await import("./add.ts")).add),
  listed("remove", "remove a server from the tree", async () => (await import("./remove.ts")).remove),
  listed(
    "import",
    "import the servers of other programs",
    async () => (await import("./import.ts")).importServers,
  ),
  listed(
    "connect",
    "connect an assistant or editor to this gateway",
    async () => (await import("./connect.ts")).connect,
  ),
  listed(
    "register",
    "make an MCP server part of a tree",
    async () => (await import("./register.ts")).register,
  ),
  listed(
    "stdio",
    "serve the tree over standard input and output",
    async () => (await import("./stdio.ts")).stdio,
  ),
  listed("tree", "draw the tree of servers", async () => (await import("./tree.ts")).tree),
  listed("call", "call a tool of the tree", async () => (await import("./call.ts")).call),
  listed(
    "access test",
    "show the rights that claims of a login would give",
    async () => (await import("./access-test.ts")).accessTest,
  ),
  listed(
    "consents",
    "show which programs were allowed through the browser",
    async () => (await import("./consents.ts")).consents,
  ),
  listed(
    "consents revoke",
    "end the permission of a program",
    async () => (await import("./consents-revoke.ts")).consentsRevoke,
  ),
  listed(
    "users",
    "show who has signed in to a server of the tree",
    async () => (await import("./users.ts")).users,
  ),
  listed(
    "users sign-out",
    "sign a user out of a server of the tree",
    async () => (await import("./users-sign-out.ts")).usersSignOut,
  ),
];

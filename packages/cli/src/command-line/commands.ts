// Every command with its summary, in the order help shows them. What a command takes and does is in a file of its own,
// loaded only when it is asked for: most command lines need one of them.
import type { CommandBody, ListedCommand } from "../framework/command.ts";

export interface Section {
  title: string;
  commands: readonly ListedCommand[];
}

export const sections: readonly Section[] = [
  {
    title: "Run",
    commands: [
      listed("up", "run the gateway", async () => (await import("../commands/up.ts")).up),
      listed(
        "console",
        "print a link that logs a browser in at the web console",
        async () => (await import("../commands/console.ts")).webConsole,
      ),
      listed(
        "doctor",
        "find what is wrong, and the command that mends it",
        async () => (await import("../commands/doctor.ts")).doctor,
      ),
      listed(
        "trust",
        "accept the configuration of another directory",
        async () => (await import("../commands/trust.ts")).trust,
      ),
      listed(
        "config check",
        "find every fault of a configuration, and start nothing",
        async () => (await import("../commands/config-check.ts")).configCheck,
      ),
      listed(
        "config print",
        "show the configuration that counts",
        async () => (await import("../commands/config-print.ts")).configPrint,
      ),
      listed(
        "config keys",
        "explain the keys of the configuration",
        async () => (await import("../commands/config-keys.ts")).configKeys,
      ),
      listed(
        "config schema",
        "print the JSON Schema of the configuration, for editors",
        async () => (await import("../commands/config-schema.ts")).configSchemaCommand,
      ),
      listed(
        "conform",
        "judge a gateway and its tree, ours or another's",
        async () => (await import("../commands/conform.ts")).conform,
      ),
      listed(
        "conform codec",
        "judge a codec of the devices' bytes",
        async () => (await import("../commands/conform-codec.ts")).conformCodecCommand,
      ),
      listed(
        "conform stub",
        "judge the stub of a device",
        async () => (await import("../commands/conform-stub.ts")).conformStubCommand,
      ),
      listed(
        "service install",
        "run the gateway as a user of its own, with the machine",
        async () => (await import("../commands/service-install.ts")).serviceInstall,
      ),
      listed(
        "service status",
        "whether it runs as a user of its own, and keeps you out",
        async () => (await import("../commands/service-status.ts")).serviceStatus,
      ),
      listed(
        "service uninstall",
        "undo service install",
        async () => (await import("../commands/service-uninstall.ts")).serviceUninstall,
      ),
      listed(
        "backup",
        "copy the stores to a new directory, or verify a copy",
        async () => (await import("../commands/backup.ts")).backup,
      ),
    ],
  },
  {
    title: "Servers and clients of the tree",
    commands: [
      listed("add", "add a server to the tree", async () => (await import("../commands/add.ts")).add),
      listed(
        "remove",
        "take a server out of the tree",
        async () => (await import("../commands/remove.ts")).remove,
      ),
      listed(
        "import",
        "bring the servers of other programs into the tree",
        async () => (await import("../commands/import.ts")).importServers,
      ),
      listed(
        "connect",
        "make this gateway known to an assistant or editor",
        async () => (await import("../commands/connect.ts")).connect,
      ),
      listed(
        "register",
        "make an MCP server part of a tree",
        async () => (await import("../commands/register.ts")).register,
      ),
      listed(
        "stdio",
        "be an MCP server on standard input and output",
        async () => (await import("../commands/stdio.ts")).stdio,
      ),
      listed("tree", "draw the tree of servers", async () => (await import("../commands/tree.ts")).tree),
      listed("call", "call a tool of the tree", async () => (await import("../commands/call.ts")).call),
      listed(
        "access test",
        "show what claims about a person would allow them",
        async () => (await import("../commands/access-test.ts")).accessTest,
      ),
      listed(
        "consents",
        "show which programs were let in through the browser",
        async () => (await import("../commands/consents.ts")).consents,
      ),
      listed(
        "consents revoke",
        "end what a program was allowed",
        async () => (await import("../commands/consents-revoke.ts")).consentsRevoke,
      ),
      listed(
        "users",
        "show who has signed in to a server of the tree",
        async () => (await import("../commands/users.ts")).users,
      ),
      listed(
        "users sign-out",
        "sign a user out of a server of the tree",
        async () => (await import("../commands/users-sign-out.ts")).usersSignOut,
      ),
    ],
  },
  {
    title: "Tools of the tree",
    commands: [
      listed("tools", "list the tools of the tree", async () => (await import("../commands/tools.ts")).tools),
      listed(
        "tools show",
        "show all that is known of one tool",
        async () => (await import("../commands/tools-show.ts")).toolsShow,
      ),
      listed(
        "tools enable",
        "make a disabled tool available again",
        async () => (await import("../commands/tools-enable.ts")).toolsEnable,
      ),
      listed(
        "tools disable",
        "disable a tool: it is neither listed nor called",
        async () => (await import("../commands/tools-disable.ts")).toolsDisable,
      ),
      listed(
        "tools rename",
        "rename a tool",
        async () => (await import("../commands/tools-rename.ts")).toolsRename,
      ),
      listed(
        "tools describe",
        "describe a tool in other words",
        async () => (await import("../commands/tools-describe.ts")).toolsDescribe,
      ),
      listed(
        "tools fix",
        "give an argument of a tool a fixed value",
        async () => (await import("../commands/tools-fix.ts")).toolsFix,
      ),
      listed(
        "tools diff",
        "show what has changed in a tool",
        async () => (await import("../commands/tools-diff.ts")).toolsDiff,
      ),
      listed(
        "tools accept",
        "accept a quarantined tool as it is now",
        async () => (await import("../commands/tools-accept.ts")).toolsAccept,
      ),
    ],
  },
  {
    title: "Rooms",
    commands: [
      listed(
        "join",
        "be in a room: talk, call tools, decide on proposals",
        async () => (await import("../commands/join.ts")).join,
      ),
      listed(
        "serve",
        "put an MCP server into a room",
        async () => (await import("../commands/serve.ts")).serve,
      ),
      listed("peers", "show who is in a room", async () => (await import("../commands/peers.ts")).peers),
      listed("tail", "watch a room", async () => (await import("../commands/tail.ts")).tail),
      listed(
        "verify",
        "verify the signatures of a room's history",
        async () => (await import("../commands/verify.ts")).verify,
      ),
      listed("say", "say something in a room", async () => (await import("../commands/say.ts")).say),
      listed(
        "capabilities",
        "show which capabilities were given in rooms",
        async () => (await import("../commands/capabilities.ts")).capabilities,
      ),
      listed(
        "capabilities revoke",
        "revoke a capability",
        async () => (await import("../commands/capabilities-revoke.ts")).capabilitiesRevoke,
      ),
    ],
  },
  {
    title: "Decisions",
    commands: [
      listed(
        "pending",
        "show what waits for a human, at gates or in a room",
        async () => (await import("../commands/pending.ts")).pending,
      ),
      listed(
        "approve",
        "approve a call at a gate, or fulfil a room's proposal",
        async () => (await import("../commands/approve.ts")).approve,
      ),
      listed(
        "reject",
        "reject a call at a gate, or a room's proposal",
        async () => (await import("../commands/reject.ts")).reject,
      ),
      listed(
        "hook",
        "ask people before Claude Code uses a tool of its own",
        async () => (await import("../commands/hook.ts")).hook,
      ),
      listed(
        "grants",
        "show grants: calls that need no approval for a while",
        async () => (await import("../commands/grants.ts")).grants,
      ),
      listed(
        "grants add",
        "grant calls of an agent, so that they need no approval",
        async () => (await import("../commands/grants-add.ts")).grantsAdd,
      ),
      listed(
        "grants revoke",
        "revoke a grant",
        async () => (await import("../commands/grants-revoke.ts")).grantsRevoke,
      ),
      listed(
        "rules",
        "show which calls wait for a human, and why",
        async () => (await import("../commands/rules.ts")).rules,
      ),
      listed(
        "rules test",
        "show what the rules would do with a call",
        async () => (await import("../commands/rules-test.ts")).rulesTest,
      ),
      listed(
        "panic",
        "send every call to a gate, until it is off again",
        async () => (await import("../commands/panic.ts")).panic,
      ),
      listed(
        "audit",
        "show who was allowed or refused what",
        async () => (await import("../commands/audit.ts")).audit,
      ),
      listed(
        "audit verify",
        "check that nobody changed the audit or an export of it",
        async () => (await import("../commands/audit-verify.ts")).auditVerify,
      ),
    ],
  },
  {
    title: "Bridges to chat platforms and phones",
    commands: [
      listed(
        "bridge add",
        "carry rooms to a chat platform or to phones",
        async () => (await import("../commands/bridge-add.ts")).bridgeAdd,
      ),
      listed(
        "bridge list",
        "show the bridges, how they are, and who is linked",
        async () => (await import("../commands/bridge-list.ts")).bridgeList,
      ),
      listed(
        "bridge link",
        "print a code that links a person of the platform",
        async () => (await import("../commands/bridge-link.ts")).bridgeLink,
      ),
      listed(
        "bridge unlink",
        "end the links of a person",
        async () => (await import("../commands/bridge-unlink.ts")).bridgeUnlink,
      ),
      listed(
        "bridge remove",
        "remove a bridge, with its links and cards",
        async () => (await import("../commands/bridge-remove.ts")).bridgeRemove,
      ),
    ],
  },
  {
    title: "Devices",
    commands: [
      listed(
        "devices",
        "show the microcontrollers of the configuration",
        async () => (await import("../commands/devices.ts")).devices,
      ),
      listed(
        "devices probe",
        "ask what is on a line, and show what to configure",
        async () => (await import("../commands/devices-probe.ts")).devicesProbe,
      ),
      listed(
        "devices monitor",
        "show the frames on a line as they come",
        async () => (await import("../commands/devices-monitor.ts")).devicesMonitor,
      ),
      listed(
        "devices sim",
        "start an emulated board, for those who have none",
        async () => (await import("../commands/devices-sim.ts")).devicesSim,
      ),
    ],
  },
  {
    title: "Tokens, keys and certificates",
    commands: [
      listed(
        "token",
        "print a token for a participant",
        async () => (await import("../commands/token.ts")).token,
      ),
      listed(
        "token list",
        "list the tokens that were issued",
        async () => (await import("../commands/token-list.ts")).tokenList,
      ),
      listed(
        "token revoke",
        "revoke a token, by its id",
        async () => (await import("../commands/token-revoke.ts")).tokenRevoke,
      ),
      listed(
        "token rotate",
        "start a new signing key",
        async () => (await import("../commands/token-rotate.ts")).tokenRotate,
      ),
      listed(
        "key new",
        "make a key, sealed by a passphrase",
        async () => (await import("../commands/key-new.ts")).keyNew,
      ),
      listed(
        "key seal",
        "give a plain key file a passphrase",
        async () => (await import("../commands/key-seal.ts")).keySeal,
      ),
      listed(
        "key show",
        "print a key's public part and thumbprint",
        async () => (await import("../commands/key-show.ts")).keyShow,
      ),
      listed(
        "key enroll",
        "let a key approve calls that wait at gates",
        async () => (await import("../commands/key-enroll.ts")).keyEnroll,
      ),
      listed(
        "key list",
        "list who was enrolled to approve",
        async () => (await import("../commands/key-list.ts")).keyList,
      ),
      listed(
        "key remove",
        "let a key approve nothing any more",
        async () => (await import("../commands/key-remove.ts")).keyRemove,
      ),
      listed(
        "key log",
        "verify and show who came to approve, by whose signature",
        async () => (await import("../commands/key-log.ts")).keyLog,
      ),
      listed(
        "key reset",
        "put all approvers out, where the last key was lost",
        async () => (await import("../commands/key-reset.ts")).keyReset,
      ),
      listed(
        "config sign",
        "sign what the configuration makes weaker",
        async () => (await import("../commands/config-sign.ts")).configSign,
      ),
      listed(
        "cert ca",
        "make a certificate authority for TLS between trees",
        async () => (await import("../commands/cert-ca.ts")).certAuthority,
      ),
      listed(
        "cert server",
        "make a server's certificate for TLS between trees",
        async () => (await import("../commands/cert-server.ts")).certServer,
      ),
      listed(
        "cert client",
        "make a client's certificate, which proves its DNS name",
        async () => (await import("../commands/cert-client.ts")).certClient,
      ),
    ],
  },
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

function listed(name: string, summary: string, load: () => Promise<CommandBody>): ListedCommand {
  return { name, summary, load: async () => ({ name, summary, ...(await load()) }) };
}

// The commands of “Tokens, keys and certificates”, in the order help shows them; each is a file of this folder.
import { type ListedCommand, listed } from "../../framework/command.ts";

export const keyCommands: readonly ListedCommand[] = [
  listed("token", "print a token for a participant", async () => (await import("./token.ts")).token),
  listed(
    "token list",
    "list the tokens that were issued",
    async () => (await import("./token-list.ts")).tokenList,
  ),
  listed(
    "token revoke",
    "revoke a token, by its id",
    async () => (await import("./token-revoke.ts")).tokenRevoke,
  ),
  listed(
    "token rotate",
    "start a new signing key",
    async () => (await import("./token-rotate.ts")).tokenRotate,
  ),
  listed("key new", "make a key, sealed by a passphrase", async () => (await import("./key-new.ts")).keyNew),
  listed(
    "key seal",
    "give a plain key file a passphrase",
    async () => (await import("./key-seal.ts")).keySeal,
  ),
  listed(
    "key show",
    "print a key's public part and thumbprint",
    async () => (await import("./key-show.ts")).keyShow,
  ),
  listed(
    "key enroll",
    "let a key approve calls that wait at gates",
    async () => (await import("./key-enroll.ts")).keyEnroll,
  ),
  listed("key list", "list who was enrolled to approve", async () => (await import("./key-list.ts")).keyList),
  listed("key remove", "remove an approver", async () => (await import("./key-remove.ts")).keyRemove),
  listed(
    "key log",
    "verify and show the chain of approvers",
    async () => (await import("./key-log.ts")).keyLog,
  ),
  listed(
    "key reset",
    "remove all approvers, when the last key is lost",
    async () => (await import("./key-reset.ts")).keyReset,
  ),
  listed(
    "config sign",
    "sign changes of the configuration that make gates weaker",
    async () => (await import("./config-sign.ts")).configSign,
  ),
  listed(
    "cert ca",
    "make a certificate authority for TLS between trees",
    async () => (await import("./cert-ca.ts")).certAuthority,
  ),
  listed(
    "cert server",
    "make a server's certificate for TLS between trees",
    async () => (await import("./cert-server.ts")).certServer,
  ),
  listed(
    "cert client",
    "make a client's certificate, which proves its DNS name",
    async () => (await import("./cert-client.ts")).certClient,
  ),
];

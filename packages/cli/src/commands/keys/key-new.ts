// `mcpx key new`: a key for the user, sealed by a passphrase, unless its owner wants it to be usable by programs.
import { resolve } from "node:path";
import { type PublicJwk, thumbprint } from "@mcpx/host";
import { newPassphrase } from "../../access/new-passphrase.ts";
import { type AgentKey, listAgentKeys } from "../../access/ssh-agent.ts";
import { dataDirOf } from "../../files/data-dir.ts";
import {
  checkNoKey,
  createAgentKey,
  createSealedKey,
  createUnsealedKey,
  defaultKeyPath,
  type KeyKeeping,
} from "../../files/key-file.ts";
import { type Context, dataOption, defineCommand } from "../../framework/command.ts";
import { Failure, misuse } from "../../framework/failure.ts";
import { shellWord } from "../../framework/show-change.ts";
import { visible } from "../../framework/visible.ts";

const options = {
  ...dataOption,
  out: {
    type: "string",
    values: "file",
    value: "FILE",
    about: "where to write it (default: keys/default.jwk in the data directory)",
  },
  unsealed: {
    type: "boolean",
    about: "without a passphrase: every program that runs as you can then sign with it",
  },
  "ssh-agent": {
    type: "string",
    value: "COMMENT",
    about:
      "no new key, but the Ed25519 or FIDO2 key (ed25519-sk) of this comment in ssh-agent; add the first with ssh-add -c",
  },
} as const;

export const keyNew = defineCommand({
  usage: "[--out FILE] [--unsealed | --ssh-agent COMMENT]",
  words: { min: 0, max: 0 },
  options,
  examples: [
    ["mcpx key new", "your own key; asks for a passphrase at the terminal"],
    ["mcpx key new --ssh-agent me@laptop", "a key that stays in ssh-agent, which asks before it signs"],
    ["mcpx key new --out robot.jwk --unsealed", "a key for a robot, which nobody can ask for a passphrase"],
    ["mcpx token --topic demo --id robot --key robot.jwk", "a token bound to it"],
  ],
  run,
});

type NewContext = Context<typeof options>;

async function run(context: NewContext): Promise<number> {
  const { cwd, options, output, program } = context;
  const { out } = options;
  const path = out === undefined ? defaultKeyPath(dataDirOf(context, options)) : resolve(cwd, out);
  const { key, kept } = await make(context, path);
  if (options.json) output.json({ file: path, kept, jwk: key, thumbprint: thumbprint(key) });
  else {
    output.line(`key         ${path}\nthumbprint  ${thumbprint(key)}`);
    const file = out === undefined ? "" : ` --key ${shellWord(out)}`;
    if (kept === "ssh-agent")
      output.note("ssh-agent asks before it signs only where the key was added with ssh-add -c");
    if (kept === "security-key") output.note("touch it only where you have asked for a signature yourself");
    if (kept === "unsealed") output.note("every program that runs as you can sign with it");
    const flag = kept === "unsealed" ? " --unsealed" : "";
    output.note(`to decide about calls with it: ${program} key enroll NAME${file}${flag}`);
  }
  return 0;
}

async function make(context: NewContext, path: string): Promise<{ key: PublicJwk; kept: KeyKeeping }> {
  const { unsealed, "ssh-agent": comment } = context.options;
  if (unsealed && comment !== undefined)
    throw misuse("--unsealed and --ssh-agent cannot be combined", "use only one of them");
  checkNoKey(path);
  if (unsealed) return { key: createUnsealedKey(path), kept: "unsealed" };
  if (comment === undefined) {
    return { key: await createSealedKey(path, await newPassphrase(context, path)), kept: "sealed" };
  }
  const { jwk: key, application } = await agentKey(context, comment);
  createAgentKey(path, key, application);
  return { key, kept: application === undefined ? "ssh-agent" : "security-key" };
}

async function agentKey({ env }: NewContext, comment: string): Promise<AgentKey> {
  const keys = await listAgentKeys(env);
  const fitting = keys.filter((key) => key.comment === comment);
  const [first] = fitting;
  if (first !== undefined && fitting.length === 1) return first;
  const known = visible(keys.map((key) => JSON.stringify(key.comment)).join(", "));
  const has = keys.length === 0 ? "it has none" : `it has ${known}`;
  throw new Failure(
    `ssh-agent has ${fitting.length} Ed25519 keys with the comment ${JSON.stringify(comment)}; ${has}`,
    "add one with ssh-add -c FILE, and name it by the comment that ssh-add -l shows",
  );
}

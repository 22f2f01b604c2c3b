// `mcpx key enroll NAME`: from now on what is signed with this key decides about gates. Only its public part is kept.
import { dirname, resolve } from "node:path";
import { thumbprint } from "@mcpx/host";
import { isReservedId } from "@mcpx/protocol";
import { approversDir, dataDirOf } from "../../files/data-dir.ts";
import { defaultKeyPath, type KeyFile, meanUnsealed, openKeyFile } from "../../files/key-file.ts";
import { localUser } from "../../files/local-store.ts";
import { isInFiles } from "../../files/state-place.ts";
import { type Context, dataOption, defineCommand } from "../../framework/command.ts";
import { Failure, misuse } from "../../framework/failure.ts";
import { shellWord } from "../../framework/show-change.ts";
import { noteChain } from "../../gates/note-chain.ts";
import { signChangeOptions } from "../../gates/sign-change.ts";

const options = {
  ...dataOption,
  ...signChangeOptions,
  key: {
    type: "string",
    values: "file",
    value: "FILE",
    about: "a key file, or a public key as JWK (default: keys/default.jwk in the data directory)",
  },
  unsealed: {
    type: "boolean",
    about: "also where the key is a plain file, with which every program that runs as you can approve",
  },
} as const;

export const keyEnroll = defineCommand({
  usage: "NAME [--key FILE] [--unsealed] [--by FILE] [--yes]",
  words: { min: 1, max: 1 },
  options,
  examples: [
    ["mcpx key new && mcpx key enroll alice", "your own key, at your own gateway"],
    [
      "mcpx key enroll bob --key bob.public.jwk",
      "somebody else's; mcpx key show prints it there, and you sign it",
    ],
  ],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { cwd, options, output, words } = context;
  const [name = ""] = words;
  const dataDir = dataDirOf(context, options);
  const { approverKey, checkNew, judgeApprovers } = await import("../../access/approvers.ts");
  const { withChain } = await import("../../access/authority.ts");
  const { settleOrSign } = await import("../../gates/sign-change.ts");
  const { anchorKeys, isApproverName } = await import("@mcpx/aggregator");
  if (!isApproverName(name)) {
    throw misuse(`${JSON.stringify(name)} cannot be a name`, "use 1 to 64 characters of A-Z a-z 0-9 . _ -");
  }
  if (isReservedId(name)) throw misuse(`${name} is reserved for the gateway itself`, "choose another name");
  const path = options.key === undefined ? defaultKeyPath(dataDir) : resolve(cwd, options.key);
  if (dirname(path) === approversDir(dataDir)) {
    throw new Failure(`${path} is where public keys are kept, not your own`, "keep the key file elsewhere");
  }
  const key = openKeyFile(path);
  checkMeant(context, key);
  const { jwk } = key;
  const kept = key.kept === "public" ? undefined : key.kept;
  const application = key.kept === "security-key" ? key.application : undefined;
  const { settled, file } = await withChain({ ...context, dataDir }, { mayCreate: true }, async (store) => {
    const approvers = await store.approvers();
    const { keys } = judgeApprovers(await approvers.list());
    const isSame = keys.some((known) => known.name === name && known.thumbprint === thumbprint(jwk));
    if (!isSame && keys.some((known) => known.name === name)) {
      throw new Failure(
        `there is already an approver called ${name}`,
        `take another name, or remove it with ${context.program} key remove ${name}`,
      );
    }
    const others = keys.filter((known) => !(isSame && known.name === name));
    for (const fresh of anchorKeys([{ kind: "key", name, jwk, application }])) checkNew(fresh, others);
    const approver = { name, jwk, ...(kept && { kept }), ...(application && { application }) };
    if (!isSame) await approvers.add(approver);
    else if (!(await approvers.replace(approver)))
      throw new Failure(`approver ${name} was changed meanwhile`, "run the command again");
    if (key.kept === "unsealed") meanUnsealed(key);
    const detail = { key: thumbprint(jwk), ...(kept && { kept }) };
    await store.audit.recordNow({
      action: "approver.enroll",
      actor: `cli:${localUser()}`,
      subject: name,
      detail,
    });
    const enrolled = await approvers.list();
    const value = judgeApprovers(enrolled).state.get(approverKey(name)) ?? null;
    const settled = await settleOrSign(context, store, [{ key: approverKey(name), value }]);
    const place = enrolled.approvers.find((one) => one.approver.name === name)?.place;
    return { settled, ...(isInFiles(dataDir) && { file: place }) };
  });
  await noteChain(context);
  const waits = settled === "waits";
  if (options.json)
    output.json({ name, file, kept, jwk, thumbprint: thumbprint(jwk), ...(waits && { waits }) });
  else if (waits) {
    output.line(`${name} waits for the signature of an approver\n${thumbprint(jwk)}`);
    output.note(
      `an approver signs it at the console, or with ${context.program} approve ID; ${context.program} pending shows it`,
    );
  } else output.line(`${name} can approve now\n${thumbprint(jwk)}`);
  return 0;
}

/** What every program of its owner can sign with approves only where that was said. */
function checkMeant(context: Context<typeof options>, { kept, path }: KeyFile): void {
  const { program } = context;
  const isMeant = context.options.unsealed;
  if (isMeant && kept !== "unsealed") {
    throw misuse(`--unsealed is for plain key files, but ${path} is ${kept}`, "leave it out");
  }
  if (kept !== "unsealed" || isMeant) return;
  throw new Failure(
    `the key in ${path} is a plain file: every program that runs as you could approve with it`,
    `seal it with ${program} key seal ${shellWord(path)}, or add --unsealed to allow that`,
  );
}

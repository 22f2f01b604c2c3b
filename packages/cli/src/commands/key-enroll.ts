// `mcpx key enroll NAME`: from now on what is signed with this key decides about gates. Only its public part is kept.
import { dirname, join, resolve } from "node:path";
import { thumbprint } from "@mcpx/host";
import { isReservedId } from "@mcpx/protocol";
import { dataDirOf } from "../files/data-dir.ts";
import { defaultKeyPath, readKeyFile } from "../files/key-file.ts";
import { localUser, withStore } from "../files/local-store.ts";
import { type Context, dataOption, defineCommand } from "../framework/command.ts";
import { Failure, misuse } from "../framework/failure.ts";
import { shellWord } from "../framework/show-change.ts";

const options = {
  ...dataOption,
  key: {
    type: "string",
    values: "file",
    value: "FILE",
    about: "a key file, or a public key as JWK (default: keys/default.jwk in the data directory)",
  },
} as const;

export const keyEnroll = defineCommand({
  usage: "NAME [--key FILE]",
  words: { min: 1, max: 1 },
  options,
  examples: [
    ["mcpx key new && mcpx key enroll alice", "your own key, at your own gateway"],
    ["mcpx key enroll bob --key bob.public.jwk", "somebody else's; mcpx key show prints it there"],
  ],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { cwd, options, output, words } = context;
  const [name = ""] = words;
  const dataDir = dataDirOf(context, options);
  const { approversDir, checkNew, readApprovers, writeApprover } = await import("../access/approvers.ts");
  const { anchorKeys, isApproverName } = await import("@mcpx/aggregator");
  if (!isApproverName(name)) {
    throw misuse(`${JSON.stringify(name)} cannot be a name`, "use 1 to 64 characters of A-Z a-z 0-9 . _ -");
  }
  if (isReservedId(name)) throw misuse(`${name} is kept for the gateway itself`, "choose another name");
  const path = options.key === undefined ? defaultKeyPath(dataDir) : resolve(cwd, options.key);
  if (dirname(path) === approversDir(dataDir)) {
    throw new Failure(`${path} is where public keys are kept, not your own`, "keep the key file elsewhere");
  }
  const jwk = readKeyFile(path);
  const file = await withStore(dataDir, { mayCreate: true }, ({ audit }) => {
    const { keys } = readApprovers(dataDir);
    if (keys.some((key) => key.name === name)) {
      const file = shellWord(join(approversDir(dataDir), `${name}.json`));
      throw new Failure(
        `there is already an approver called ${name}`,
        `take another name, or remove it with rm ${file}`,
      );
    }
    for (const key of anchorKeys([{ kind: "key", name, jwk }])) checkNew(key, keys);
    const written = writeApprover(dataDir, name, jwk);
    const detail = { key: thumbprint(jwk) };
    audit.recordNow({ action: "approver.enroll", actor: `cli:${localUser()}`, subject: name, detail });
    return written;
  });
  if (options.json) output.json({ name, file, jwk, thumbprint: thumbprint(jwk) });
  else output.line(`${name} can approve now\n${thumbprint(jwk)}`);
  return 0;
}

// `mcpx key seal`: a plain key file gets a passphrase; the same key, so that everything it was enrolled for stays.
import { resolve } from "node:path";
import { thumbprint } from "@mcpx/host";
import { newPassphrase } from "../../access/new-passphrase.ts";
import { dataDirOf } from "../../files/data-dir.ts";
import { defaultKeyPath, openKeyFile, privateKeyOf, sealKeyFile } from "../../files/key-file.ts";
import { type Context, dataOption, defineCommand } from "../../framework/command.ts";
import { Failure } from "../../framework/failure.ts";

export const keySeal = defineCommand({
  usage: "[FILE]",
  words: { min: 0, max: 1, values: [["file"]] },
  options: dataOption,
  examples: [
    ["mcpx key seal", "your own; asks for a passphrase at the terminal"],
    ["mcpx key seal ops.jwk", "another"],
  ],
  run,
});

async function run(context: Context<typeof dataOption>): Promise<number> {
  const { cwd, options, output, words } = context;
  const [given] = words;
  const path = given === undefined ? defaultKeyPath(dataDirOf(context, options)) : resolve(cwd, given);
  const file = openKeyFile(path);
  if (file.kept !== "unsealed") {
    const why = {
      sealed: "is sealed already",
      "ssh-agent": "names a key in ssh-agent",
      "security-key": "names a security key",
      public: "has no private key",
    };
    throw new Failure(`${path} ${why[file.kept]}`, "nothing was changed");
  }
  // A key file that others could read may have been copied: this is said before anything is sealed.
  privateKeyOf(file);
  await sealKeyFile(file, await newPassphrase(context, path));
  if (options.json) output.json({ file: path, kept: "sealed", thumbprint: thumbprint(file.jwk) });
  else {
    output.line(`sealed      ${path}\nthumbprint  ${thumbprint(file.jwk)}`);
    output.note(
      "copies and backups of the plain file still work without the passphrase: if one may exist, make a new key instead",
    );
  }
  return 0;
}

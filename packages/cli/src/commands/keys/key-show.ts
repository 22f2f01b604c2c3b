// `mcpx key show`: the public half of a key file, to be given to others.
import { resolve } from "node:path";
import { thumbprint } from "@mcpx/host";
import { dataDirOf } from "../../files/data-dir.ts";
import { agentKeyText, defaultKeyPath, openKeyFile } from "../../files/key-file.ts";
import { type Context, dataOption, defineCommand } from "../../framework/command.ts";

export const keyShow = defineCommand({
  usage: "[FILE]",
  words: { min: 0, max: 1, values: [["file"]] },
  options: dataOption,
  examples: [
    ["mcpx key show", "your own"],
    ["mcpx key show robot.jwk", "that of a robot"],
  ],
  run,
});

async function run(context: Context<typeof dataOption>): Promise<number> {
  const { cwd, options, output, words } = context;
  const [file] = words;
  const path = file === undefined ? defaultKeyPath(dataDirOf(context, options)) : resolve(cwd, file);
  const { jwk, ...key } = openKeyFile(path);
  // To enrol a FIDO2 key an approver needs its application too.
  const application = key.kept === "security-key" ? key.application : undefined;
  const shown = application === undefined ? jwk : agentKeyText(jwk, application);
  const json = { file: path, jwk, ...(application && { application }), thumbprint: thumbprint(jwk) };
  if (options.json) output.json(json);
  else output.line(`${JSON.stringify(shown)}\n${thumbprint(jwk)}`);
  return 0;
}

// `mcpx key new`: a participant's own key.
import { resolve } from "node:path";
import { thumbprint } from "@mcpx/host";
import { dataDirOf } from "../files/data-dir.ts";
import { createKeyFile, defaultKeyPath } from "../files/key-file.ts";
import { type Context, dataOption, defineCommand } from "../framework/command.ts";
import { shellWord } from "../framework/show-change.ts";

const options = {
  ...dataOption,
  out: {
    type: "string",
    values: "file",
    value: "FILE",
    about: "where to write it (default: keys/default.jwk in the data directory)",
  },
} as const;

export const keyNew = defineCommand({
  usage: "[--out FILE]",
  words: { min: 0, max: 0 },
  options,
  examples: [
    ["mcpx key new", "your own key"],
    ["mcpx key new --out robot.jwk", "a key for a robot"],
    ["mcpx token --topic demo --id robot --key robot.jwk", "a token bound to it"],
  ],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { cwd, options, output, program } = context;
  const { out } = options;
  const path = out === undefined ? defaultKeyPath(dataDirOf(context, options)) : resolve(cwd, out);
  const key = createKeyFile(path);
  if (options.json) output.json({ file: path, jwk: key, thumbprint: thumbprint(key) });
  else {
    output.line(`key         ${path}\nthumbprint  ${thumbprint(key)}`);
    const file = out === undefined ? "" : ` --key ${shellWord(out)}`;
    output.note(`to decide about calls with it: ${program} key enroll NAME${file}`);
  }
  return 0;
}

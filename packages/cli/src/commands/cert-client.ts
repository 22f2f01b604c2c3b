// `mcpx cert client NAME`: a certificate that proves a DNS name to the tree above. [AX-4.2-3]
import { isDnsName, makeCertificate } from "@mcpx/host";
import {
  authorityPaths,
  certDirOf,
  certOptions,
  pathsFor,
  readAuthority,
  spanOf,
  tellMade,
  writePair,
} from "../files/cert-files.ts";
import { type Context, defineCommand } from "../framework/command.ts";
import { misuse } from "../framework/failure.ts";

const options = {
  days: { type: "string", value: "N", about: "how long it is valid, 825 days at most (default: 397)" },
  ...certOptions,
} as const;

export const certClient = defineCommand({
  usage: "NAME [--days N] [--dir DIR]",
  words: { min: 1, max: 1 },
  options,
  examples: [
    ["mcpx cert client edge01.example.com", "client-edge01.example.com.pem and its key"],
    ["mcpx cert client edge01.example.com --days 30", "for a month"],
  ],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { options, words } = context;
  const name = (words[0] ?? "").toLowerCase();
  if (!isDnsName(name)) {
    throw misuse(
      `${JSON.stringify(words[0])} is not a DNS name`,
      "write for example edge01.example.com; other scripts as xn--",
    );
  }
  const span = spanOf(options.days, { standard: 397, max: 825 });
  const dir = certDirOf(context);
  const pair = makeCertificate({ use: "client", names: [name], ...span }, readAuthority(dir));
  const paths = pathsFor(dir, `client-${name}`);
  writePair(paths, pair, options.force);
  const parent = {
    url: "wss://tree.example.com/ax",
    segment: name.split(".")[0],
    authority: `dns:${name}`,
    ca: authorityPaths(dir).cert,
    ...paths,
  };
  const { segment } = parent;
  const hint = `The tree takes it with "subservers": { "${segment}": { "authority": "dns:${name}" } } in its mcpx.json. In mcpx.json of the one that registers, with copies of these files and the tree's address:`;
  tellMade(context, { paths, pair, config: { parents: [parent] }, hint });
  return 0;
}

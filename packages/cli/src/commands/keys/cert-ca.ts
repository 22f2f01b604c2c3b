// `mcpx cert ca`: a small authority that vouches for aggregators to each other. [AX-10.4-1]
import { makeAuthority } from "@mcpx/host";
import {
  authorityPaths,
  certDirOf,
  certOptions,
  spanOf,
  tellMade,
  writePair,
} from "../../files/cert-files.ts";
import { type Context, defineCommand } from "../../framework/command.ts";
import { misuse } from "../../framework/failure.ts";

const options = {
  name: { type: "string", value: "NAME", about: "name shown to people (default: mcpx)" },
  days: { type: "string", value: "N", about: "how long it is valid, 3650 days at most (default: 3650)" },
  ...certOptions,
} as const;

export const certAuthority = defineCommand({
  usage: "[--name NAME] [--dir DIR]",
  words: { min: 0, max: 0 },
  options,
  examples: [
    ["mcpx cert ca", "ca.pem and ca-key.pem, in the data directory"],
    ["mcpx cert ca --name 'Lab 7' --dir certs", "elsewhere, with a name people know"],
    ["mcpx cert ca --force", "a new authority; certificates of the old one are not valid with it"],
  ],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { options } = context;
  const name = options.name ?? "mcpx";
  if (name.length > 64 || /\p{Cc}/u.test(name)) {
    throw misuse("--name is too long or has control characters", "use at most 64 characters");
  }
  const span = spanOf(options.days, { standard: 3_650, max: 3_650 });
  const paths = authorityPaths(certDirOf(context));
  const pair = makeAuthority({ name, ...span });
  writePair(paths, pair, options.force);
  const config = { listen: { tls: { clientCa: paths.cert } } };
  const hint = "In mcpx.json, beside cert and key: client certificates of this authority prove their names.";
  tellMade(context, { paths, pair, config, hint });
  return 0;
}

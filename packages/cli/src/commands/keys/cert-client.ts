// `mcpx cert client NAME`: a certificate that proves a DNS name to the tree above. [AX-4.2-3]
import { isDnsName } from "@mcpx/host";
import { signedOptions, tellMade, writeSigned } from "../../files/cert-files.ts";
import { type Context, defineCommand } from "../../framework/command.ts";
import { misuse } from "../../framework/failure.ts";

export const certClient = defineCommand({
  usage: "NAME [--days N] [--dir DIR]",
  words: { min: 1, max: 1 },
  options: signedOptions,
  examples: [
    ["mcpx cert client edge01.example.com", "client-edge01.example.com.pem and its key"],
    ["mcpx cert client edge01.example.com --days 30", "for a month"],
  ],
  run,
});

async function run(context: Context<typeof signedOptions>): Promise<number> {
  const { words } = context;
  const name = (words[0] ?? "").toLowerCase();
  if (!isDnsName(name)) {
    throw misuse(
      `${JSON.stringify(words[0])} is not a DNS name`,
      "write for example edge01.example.com; other scripts as xn--",
    );
  }
  const file = `client-${name}`;
  const { authority, paths, pair } = writeSigned(context, { use: "client", names: [name], file });
  const parent = {
    url: "wss://tree.example.com/ax",
    segment: name.split(".")[0],
    authority: `dns:${name}`,
    ca: authority,
    ...paths,
  };
  const { segment } = parent;
  const hint = `The tree takes it with "subservers": { "${segment}": { "authority": "dns:${name}" } } in its mcpx.json. In mcpx.json of the one that registers, with copies of these files and the tree's address:`;
  tellMade(context, { paths, pair, config: { parents: [parent] }, hint });
  return 0;
}

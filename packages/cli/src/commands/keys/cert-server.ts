// `mcpx cert server NAME…`: a certificate for the names and addresses a gateway is reached at. [AX-10.4-1]
import { isIP } from "node:net";
import { isDnsName } from "@mcpx/host";
import { signedOptions, tellMade, writeSigned } from "../../files/cert-files.ts";
import { type Context, defineCommand } from "../../framework/command.ts";
import { misuse } from "../../framework/failure.ts";

export const certServer = defineCommand({
  usage: "NAME… [--days N] [--dir DIR]",
  words: { min: 1, max: 100 },
  options: signedOptions,
  examples: [
    ["mcpx cert server tree.example.com", "server-tree.example.com.pem and its key"],
    ["mcpx cert server tree.example.com localhost 192.0.2.7", "for several names and addresses"],
    ["mcpx cert server tree.example.com --force", "replace the certificate before it expires"],
  ],
  run,
});

async function run(context: Context<typeof signedOptions>): Promise<number> {
  const { words } = context;
  const names = [...new Set(words.map(readName))];
  const file = `server-${names[0]}`;
  const { authority, paths, pair } = writeSigned(context, { use: "server", names, file });
  const hosts = names.filter((name) => isIP(name) === 0 && name !== "localhost");
  const tls = { cert: paths.cert, key: paths.key, clientCa: authority };
  const config = { listen: { ...(hosts.length > 0 && { hosts }), tls } };
  tellMade(context, { paths, pair, config, hint: "In mcpx.json of the gateway with these names:" });
  return 0;
}

/** In the spelling that is compared. */
function readName(word: string): string {
  const name = word.toLowerCase();
  // A zone means something on one machine only.
  const isAddress = isIP(name) !== 0 && !name.includes("%");
  if (isAddress || isDnsName(name)) return name;
  throw misuse(
    `${JSON.stringify(word)} is neither a DNS name nor an address`,
    "write for example tree.example.com or 192.0.2.7",
  );
}

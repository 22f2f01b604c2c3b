// `mcpx grants revoke ID`: from now on that is asked for again.
import { type Context, defineCommand, gatewayOptions } from "../../framework/command.ts";
import { Failure, misuse } from "../../framework/failure.ts";
import { adminCall, objects } from "../../gates/gate-access.ts";

const options = { ...gatewayOptions, all: { type: "boolean", about: "every grant there is" } } as const;

export const grantsRevoke = defineCommand({
  usage: "ID | --all",
  words: { min: 0, max: 1, values: [["grant"]] },
  options,
  examples: [
    ["mcpx grants revoke 6f0e", "a prefix of the id is enough"],
    ["mcpx grants revoke --all", "every call needs its approval again"],
  ],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { options, output, words } = context;
  const [id] = words;
  if ((id === undefined) !== options.all) throw misuse("revoke needs an id, or --all", "see mcpx grants");
  const call = adminCall(context);
  const ids = objects((await call("GET", "/grants")).grants).map((grant) => String(grant.id));
  const chosen = ids.filter((one) => options.all || one.startsWith(id ?? ""));
  if (!options.all && chosen.length > 1)
    throw misuse(`several grants start with ${id}`, "write more characters of the id");
  if (!options.all && chosen.length === 0) throw new Failure(`there is no grant ${id}`, "see mcpx grants");
  for (const one of chosen) await call("DELETE", `/grants/${encodeURIComponent(one)}`);
  if (options.json) output.json({ revoked: chosen });
  else for (const one of chosen) output.line(`revoked ${one}`);
  return 0;
}

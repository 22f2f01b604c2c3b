// `mcpx consents revoke ID`: the program is out at its next request, and has to ask again.
import { type Context, defineCommand, gatewayOptions } from "../../framework/command.ts";
import { Failure } from "../../framework/failure.ts";
import { onlyWithIdPrefix } from "../../framework/id-prefix.ts";
import { visible } from "../../framework/visible.ts";
import { adminCall, objects } from "../../gates/gate-access.ts";

export const consentsRevoke = defineCommand({
  usage: "ID",
  words: { min: 1, max: 1 },
  options: gatewayOptions,
  examples: [["mcpx consents revoke 6f0e", "a prefix of the id is enough"]],
  run,
});

async function run(context: Context<typeof gatewayOptions>): Promise<number> {
  const { options, output, words } = context;
  const [id = ""] = words;
  const call = adminCall(context);
  const listed = objects((await call("GET", "/consents")).consents);
  const found = onlyWithIdPrefix(
    id,
    listed.map((one) => ({ id: String(one.id), name: String(one.clientName) })),
  );
  if (found === undefined) throw new Failure(`there is no consent ${id}`, "see mcpx consents");
  const answer = await call("DELETE", `/consents/${encodeURIComponent(found.id)}`);
  if (options.json) output.json(answer);
  else output.line(`revoked ${found.id}: ${visible(found.name)} can no longer use this gateway`);
  return 0;
}

// `mcpx token rotate`: a new signing key; tokens of the old one count until they end.

import { homeOf } from "../../files/data-dir.ts";
import { localUser, withStore } from "../../files/local-store.ts";
import { type Context, dataOption, defineCommand } from "../../framework/command.ts";

export const tokenRotate = defineCommand({
  usage: "",
  words: { min: 0, max: 0 },
  options: dataOption,
  examples: [["mcpx token rotate", "tokens issued before stay valid until they expire"]],
  run,
});

async function run(context: Context<typeof dataOption>): Promise<number> {
  const { options, output } = context;
  const rotated = await withStore(homeOf(context, options), {}, async ({ identity, audit }) => {
    const { kid, retired } = await identity.keys.rotate();
    await audit.recordNow({ action: "token.rotate", actor: `cli:${localUser()}`, subject: kid });
    return { kid, retired: retired ?? null };
  });
  if (options.json) output.json(rotated);
  else output.line(`new signing key ${rotated.kid}; tokens issued before stay valid until they expire`);
  return 0;
}

// `mcpx panic`: from now on every call of every tool waits for a human, whatever was granted; `mcpx panic off` ends it.

import { hasGateway } from "../access/gateway-access.ts";
import { dataDirOf } from "../files/data-dir.ts";
import { localUser, withStore } from "../files/local-store.ts";
import { type Context, defineCommand, gatewayOptions } from "../framework/command.ts";
import { misuse } from "../framework/failure.ts";
import { adminCall } from "../gates/gate-access.ts";

export const panic = defineCommand({
  usage: "[on|off]   (on is the default)",
  words: { min: 0, max: 1, values: [[["on", "off"]]] },
  options: gatewayOptions,
  examples: [
    ["mcpx panic", "on, at once; grants do not count, a restart does not end it"],
    ["mcpx panic off", "the rules and grants count again"],
  ],
  run,
});

async function run(context: Context<typeof gatewayOptions>): Promise<number> {
  const { options, output, words, program } = context;
  const [word = "on"] = words;
  if (word !== "on" && word !== "off")
    throw misuse(`panic is on or off, not ${word}`, "write mcpx panic off");
  const isPanic = word === "on";
  if (hasGateway(context)) await adminCall(context)("POST", "/panic", { on: isPanic });
  else await keepForLater(context, isPanic);
  if (options.json) output.json({ panic: isPanic });
  else if (isPanic) output.line(`panic is on: every call waits for an approval, until ${program} panic off`);
  else output.line("panic is off: rules and grants decide again");
  return 0;
}

/** For the gateway that will run there. */
async function keepForLater(context: Context<typeof gatewayOptions>, isPanic: boolean): Promise<void> {
  const dataDir = dataDirOf(context, context.options);
  const { keepPanic } = await import("@mcpx/aggregator");
  const { openPins } = await import("../files/open-pins.ts");
  await withStore(dataDir, {}, ({ audit }) => {
    const { db, close } = openPins(dataDir);
    try {
      keepPanic(db, isPanic);
    } finally {
      close();
    }
    audit.recordNow({ action: isPanic ? "gate.panic" : "gate.calm", actor: `cli:${localUser()}` });
  });
}

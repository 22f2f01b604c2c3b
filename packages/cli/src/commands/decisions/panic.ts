// `mcpx panic`: from now on every call of every tool waits for a human, whatever was granted; `mcpx panic off` ends it.

import { hasGateway } from "../../access/gateway-access.ts";
import { homeOf } from "../../files/data-dir.ts";
import { localUser } from "../../files/local-store.ts";
import { type Context, defineCommand, gatewayOptions } from "../../framework/command.ts";
import { misuse } from "../../framework/failure.ts";
import { adminCall } from "../../gates/gate-access.ts";
import { signChangeOptions } from "../../gates/sign-change.ts";

const options = { ...gatewayOptions, ...signChangeOptions } as const;

export const panic = defineCommand({
  usage: "[on|off] [--by FILE] [--yes]   (on is the default)",
  words: { min: 0, max: 1, values: [[["on", "off"]]] },
  options,
  examples: [
    ["mcpx panic", "send every call to a gate, at once: grants have no effect, also after a restart"],
    ["mcpx panic off", "end panic: rules and grants decide again once an approver has signed it"],
  ],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { options, output, words, program } = context;
  const [word = "on"] = words;
  if (word !== "on" && word !== "off")
    throw misuse(`panic is on or off, not ${word}`, "write mcpx panic off");
  const isPanic = word === "on";
  const waits = hasGateway(context)
    ? await tellGateway(context, isPanic)
    : await keepForLater(context, isPanic);
  if (options.json) output.json({ panic: isPanic || waits, ...(waits && { waits }) });
  else if (waits) output.line("panic is still on, until an approver has signed its end");
  else if (isPanic) output.line(`panic: every call waits for a human now, until ${program} panic off`);
  else output.line("panic is off: the rules and grants decide again");
  return waits ? 1 : 0;
}

/** Whether it waits for a signature. */
async function tellGateway(context: Context<typeof options>, isPanic: boolean): Promise<boolean> {
  const { options, output, program } = context;
  const { waits } = await adminCall(context)("POST", "/panic", { on: isPanic });
  if (typeof waits !== "string") return false;
  const { approveGate } = await import("../../gates/decide-gate.ts");
  const canAsk = options.yes || (context.output.isTerminal && !options.json);
  if (!canAsk) {
    output.note(`an approver signs it at the console, or with ${program} approve ${waits}`);
    return true;
  }
  const signing = { ...context, options: { ...options, key: options.by } };
  return (await approveGate(signing, waits, { isAgreed: options.yes, isOpen: false })) !== 0;
}

/** For the gateway that will run there. */
async function keepForLater(context: Context<typeof options>, isPanic: boolean): Promise<boolean> {
  const { withChain } = await import("../../access/authority.ts");
  const { settleOrSign } = await import("../../gates/sign-change.ts");
  return await withChain(homeOf(context, context.options), {}, async (store) => {
    const value = isPanic ? true : null;
    if ((await settleOrSign(context, store, [{ key: "panic", value }])) === "waits") {
      context.output.note("no key here can sign it: use --by FILE with an approver's key, or the console");
      return true;
    }
    const { facts } = await store.tree();
    await facts.keepPanic(isPanic);
    await store.audit.recordNow({
      action: isPanic ? "gate.panic" : "gate.calm",
      actor: `cli:${localUser()}`,
    });
    return false;
  });
}

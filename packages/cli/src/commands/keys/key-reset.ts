// `mcpx key reset`: where the last key was lost. Puts all approvers out without a signature, while no gateway runs, and
// leaves an entry in the chain that nothing removes.
import { dataDirOf } from "../../files/data-dir.ts";
import { takeLock } from "../../files/data-lock.ts";
import { type Context, dataOption, defineCommand } from "../../framework/command.ts";
import { Failure } from "../../framework/failure.ts";
import { ask } from "../../framework/show-change.ts";

const options = {
  ...dataOption,
  "no-key-is-left": { type: "boolean", about: "do it without asking" },
} as const;

export const keyReset = defineCommand({
  usage: "[--no-key-is-left]",
  words: { min: 0, max: 0 },
  options,
  examples: [
    ["mcpx key reset", "nobody approves then; it stays visible for good in mcpx key log and mcpx doctor"],
  ],
  run,
});

const question = "Remove ALL approvers without a signature? The chain records it for good. y or n (Enter: n)";

async function run(context: Context<typeof options>): Promise<number> {
  const { options, output, program } = context;
  const dataDir = dataDirOf(context, options);
  const lock = takeLock(dataDir);
  if (lock === undefined) throw new Failure("a gateway runs there", "stop it first: this is done offline");
  try {
    if (!options["no-key-is-left"]) {
      const answer = options.json ? undefined : await ask(context, question);
      if (answer === undefined)
        throw new Failure(
          "nothing was done: there is no terminal to ask for confirmation",
          "add --no-key-is-left",
        );
      if (!/^y(es)?$/i.test(answer)) {
        output.line("nothing was done");
        return 1;
      }
    }
    const { withChain } = await import("../../access/authority.ts");
    const { approversIn } = await import("@mcpx/aggregator");
    const names = await withChain({ ...context, dataDir }, {}, async ({ chain, approvers }) => {
      const names = approversIn(chain.now().state).map((key) => key.slice("approver/".length));
      await chain.reset();
      const store = await approvers();
      for (const name of names) await store.remove(name);
      return names;
    });
    if (options.json) output.json({ removed: names });
    else
      output.line(
        `there is no approver now; the next key that is enrolled is the first: ${program} key enroll NAME`,
      );
    return 0;
  } finally {
    lock.release();
  }
}

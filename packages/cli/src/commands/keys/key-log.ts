// `mcpx key log`: the chain of approvers, verified: who came to approve and by whose signature, and what made the gates
// weaker.
import { homeOf } from "../../files/data-dir.ts";
import { type Context, dataOption, defineCommand } from "../../framework/command.ts";
import { visible } from "../../framework/visible.ts";

export const keyLog = defineCommand({
  usage: "",
  words: { min: 0, max: 0 },
  options: dataOption,
  examples: [["mcpx key log", "every entry with who has signed it; fails where the chain was tampered with"]],
  run,
});

async function run(context: Context<typeof dataOption>): Promise<number> {
  const { options, output, program } = context;
  const { withChain } = await import("../../access/authority.ts");
  const { entries, head } = await withChain(homeOf(context, options), {}, ({ chain }) => chain.now());
  if (options.json) output.json({ entries, head: head ?? null });
  else {
    for (const { n, at, kind, what, by } of entries) {
      const who = by.length > 0 ? `signed by ${by.join(" and ")}` : unsigned[kind];
      output.line(visible(`${String(n).padStart(3)}  ${at.slice(0, 19)}Z  ${kind}: ${who}`));
      for (const sentence of what) output.line(visible(`       ${sentence}`));
    }
    output.line(
      head === undefined ? `no entry yet: ${program} key enroll NAME` : `head ${head.n}  ${head.hash}`,
    );
  }
  return 0;
}

const unsigned = {
  adopted: "existed when the chain began; nobody signed it",
  open: "there was no approver yet who could sign",
  tightened: "stricter, so nobody had to sign",
  signed: "",
  reset: "ALL APPROVERS WERE REMOVED without a signature, by somebody with access to the data directory",
} as const;

// `mcpx key remove NAME`: from now on NAME is no approver. Another approver signs that, so that nobody is put out by
// a program alone.
import { dataDirOf } from "../../files/data-dir.ts";
import { localUser } from "../../files/local-store.ts";
import { type Context, dataOption, defineCommand } from "../../framework/command.ts";
import { Failure } from "../../framework/failure.ts";
import { noteChain } from "../../gates/note-chain.ts";
import { signChangeOptions } from "../../gates/sign-change.ts";

const options = { ...dataOption, ...signChangeOptions } as const;

export const keyRemove = defineCommand({
  usage: "NAME [--by FILE] [--yes]",
  words: { min: 1, max: 1 },
  options,
  examples: [["mcpx key remove bob", "bob is no longer an approver, at once; you sign that with your key"]],
  run,
});

async function run(context: Context<typeof options>): Promise<number> {
  const { options, output, words, program } = context;
  const [name = ""] = words;
  const dataDir = dataDirOf(context, options);
  const { approverKey, judgeApprovers } = await import("../../access/approvers.ts");
  const { withChain } = await import("../../access/authority.ts");
  const { settleOrSign } = await import("../../gates/sign-change.ts");
  const { isApproverName, signersOf } = await import("@mcpx/aggregator");
  const settled = await withChain({ ...context, dataDir }, {}, async (store) => {
    const approvers = await store.approvers();
    const enrolled = await approvers.list();
    const { state } = store.chain.now();
    const isEnrolled = [...enrolled.approvers.map(({ approver }) => approver), ...enrolled.unreadable].some(
      (one) => one.name === name,
    );
    if (!isApproverName(name) || !(state.has(approverKey(name)) || isEnrolled)) {
      throw new Failure(`there is no approver called ${name}`, `see ${program} key list`);
    }
    const isLast =
      signersOf(state).every((key) => key.name === name) && judgeApprovers(enrolled).keys.length > 0;
    if (isLast && state.has(approverKey(name))) {
      throw new Failure(
        `${name} is the only approver, so nobody else could sign anything`,
        "enrol another one first",
      );
    }
    const settled = await settleOrSign(context, store, [{ key: approverKey(name), value: null }]);
    // A user with write access to the data can always keep an approver from approving; only a signature adds one.
    await approvers.remove(name);
    await store.audit.recordNow({ action: "approver.remove", actor: `cli:${localUser()}`, subject: name });
    return settled;
  });
  await noteChain(context);
  const waits = settled === "waits";
  if (options.json) output.json({ name, ...(waits && { waits }) });
  else output.line(`${name} is no longer an approver`);
  if (waits && !options.json) output.note(`an approver has yet to sign it: ${program} pending`);
  return 0;
}

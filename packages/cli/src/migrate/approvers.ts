// Approvers move in the order in which they came: of two that could be taken for each other the earlier counts.
import { isDeepStrictEqual } from "node:util";
import type { ApproverStore, Enrolled } from "@mcpx/aggregator";
import { Failure } from "../framework/failure.ts";

/** Afterwards `to` has exactly those of `from`, whatever it had. */
export async function copyApprovers(from: ApproverStore, to: ApproverStore): Promise<number> {
  const wanted = await from.list();
  const [first] = wanted.unreadable;
  if (first !== undefined)
    throw new Failure(`${first.place}: ${first.why}`, "correct or remove it, then type the same again");
  const byTime = wanted.approvers.toSorted((one, other) => one.since - other.since);
  for (const { approver } of (await to.list()).approvers) await to.remove(approver.name);
  for (const { approver } of byTime) await to.add(approver);
  const found = approversOf(await to.list());
  if (!isDeepStrictEqual(found, approversOf(wanted)))
    throw new Failure("the approvers of the copy are others", "keep the original, and tell us");
  return found.length;
}

function approversOf({ approvers }: Enrolled) {
  return approvers.map(({ approver }) => approver);
}

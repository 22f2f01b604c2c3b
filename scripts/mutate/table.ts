// The table of mutations: small edits of the code, each of which breaks one requirement of the ledger and must be
// noticed by a test that names it. Pure: mutate.ts reads the files.
import type { LedgerRow } from "../ledger/coverage.ts";

/** `find` stands exactly once in `file`. `tests` narrows the test files that are run to those that decide. */
export type Mutation = { id: string; file: string; find: string; replace: string; tests?: string[] };

/** Why no edit of the code can break the requirement of this row, or not in a way that a test run can see. */
type Exemption = { id: string; none: string };

export type Entry = Mutation | Exemption;

/** Beyond the documents, and as binding: a proof that can be bent is worse than none. */
const bindingBeyond = ["B-SIGN-1", "B-REG-1"];

export function isMutation(entry: Entry): entry is Mutation {
  return "find" in entry;
}

/** The rows that owe a mutation. */
function owingRows(rows: LedgerRow[]): LedgerRow[] {
  return rows.filter(({ id, level }) => level === "M" || bindingBeyond.includes(id));
}

/** What is wrong with the table as a table; whether its edits still fit is `placeOf`'s to say. */
export function tableFaults(
  rows: LedgerRow[],
  entries: Entry[],
  isLater: (part: string) => boolean,
): string[] {
  const known = new Set(rows.map(({ id }) => id));
  const listed = new Set(entries.map(({ id }) => id));
  const mutated = new Set(entries.filter(isMutation).map(({ id }) => id));
  const owing = owingRows(rows).filter(({ id, part }) => !listed.has(id) && !isLater(part));
  const exempt = entries.filter((entry): entry is Exemption => !isMutation(entry));
  return [
    ...[...listed].filter((id) => !known.has(id)).map((id) => `${id} is not in the ledger`),
    ...owing.map(({ id }) => `${id} has neither a mutation nor a reason to have none`),
    ...exempt
      .filter(({ id }) => mutated.has(id))
      .map(({ id }) => `${id} has a mutation and a reason to have none`),
    ...exempt
      .filter(({ none }) => none.trim() === "")
      .map(({ id }) => `${id} has no mutation and an empty reason`),
  ];
}

/** Where the edit goes, or why it no longer fits. */
export function placeOf(
  { find, replace }: Mutation,
  source: string | undefined,
): { line: number } | { stale: string } {
  if (source === undefined) return { stale: "the file does not exist" };
  if (find === replace || find === "") return { stale: "the edit changes nothing" };
  const at = source.indexOf(find);
  if (at === -1) return { stale: "the text to replace is not there" };
  if (source.includes(find, at + 1)) return { stale: "the text to replace is there more than once" };
  return { line: source.slice(0, at).split("\n").length };
}

export function edited({ find, replace }: Mutation, source: string): string {
  return source.replace(find, () => replace);
}

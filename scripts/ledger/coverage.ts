// Which rows of the spec ledger the tests name, and what is wrong with the tables themselves. Every row is judged
// unless its part stands in the table of parts not built yet, and a part that exists cannot stand there: no entry
// of a table can hide a row. Pure: spec.ts reads the files.
import { namedIds, type TestFile } from "./titles.ts";

export type LedgerRow = { id: string; level: string; text: string; part: string };

/** Parts that are not built yet, each with the reason. */
export type LaterParts = Record<string, string>;

type Tables = { rows: LedgerRow[]; later: LaterParts; folders: string[] };
type Named = { id: string; path: string };

/** Sorts the ledger by what the titles of `files` name. `folders` are the names of the folders that hold code or tests. */
export function ledgerCoverage({ files, ...tables }: Tables & { files: TestFile[] }) {
  const { rows, later } = tables;
  const named = files.flatMap((file) => namedIds(file).map((id) => ({ id, path: file.path })));
  const covered = new Set(named.map(({ id }) => id));
  const owed = rows.filter(({ level }) => level !== "N");
  const open = owed.filter(({ id }) => !covered.has(id));
  const openIds = (isLater: boolean) =>
    open.filter(({ part }) => Object.hasOwn(later, part) === isLater).map(({ id }) => id);
  return {
    total: owed.length,
    covered: owed.length - open.length,
    missing: openIds(false),
    later: openIds(true),
    faults: [...rowFaults(tables), ...laterFaults(tables), ...titleFaults(tables, named)],
  };
}

function rowFaults({ rows, later, folders }: Tables): string[] {
  const ids = rows.map(({ id }) => id);
  const twice = ids.filter((id, index) => ids.indexOf(id) !== index);
  const strays = rows.filter(({ part }) => !Object.hasOwn(later, part) && !folders.includes(part));
  return [
    ...twice.map((id) => `${id} has two rows in the ledger`),
    ...strays.map(
      ({ id, part }) =>
        `${id} has the part "${part}", which is neither a folder nor in spec/later.json: name the folder that holds it`,
    ),
  ];
}

function laterFaults({ rows, later, folders }: Tables): string[] {
  return Object.entries(later).flatMap(([part, reason]) => [
    ...(rows.some((row) => row.part === part) ? [] : [`no row has the part "${part}" of spec/later.json`]),
    ...(reason.trim() === "" ? [`the part "${part}" of spec/later.json has no reason`] : []),
    ...(folders.includes(part) ? [hidden(part, `there is a folder "${part}"`)] : []),
  ]);
}

function titleFaults({ rows, later }: Tables, named: Named[]): string[] {
  const parts = new Map(rows.map(({ id, part }) => [id, part]));
  return named.flatMap(({ id, path }) => {
    const part = parts.get(id);
    if (part === undefined) return [`${path} names [${id}], which is not in the ledger`];
    return Object.hasOwn(later, part) ? [hidden(part, `${path} names [${id}]`)] : [];
  });
}

function hidden(part: string, evidence: string): string {
  return `the part "${part}" is built but hidden: ${evidence}. Take it out of spec/later.json and give its rows in spec/ledger.json the part (a folder) that holds them`;
}

// docs/CONFORMANCE.md, made from the ledger: document by document, section by section, what works as it is written,
// what differs and why, what is not built and why. Pure.
import type { LaterParts, LedgerRow } from "./coverage.ts";
import { placeOfId, type SourceDocument, sourceDocuments } from "./documents.ts";

/** A row with what the page says beyond its text. `differs`: one sentence, where we do not do what is written. */
export type ConformanceRow = LedgerRow & { decision: string; differs?: string };

const states = ["as written", "differs", "not shown", "not built"] as const;
type State = (typeof states)[number];
interface Judged {
  row: ConformanceRow;
  state: State;
  words: string;
}

/** `missing` are the ids of parts that are built and that no test names. */
export function conformancePage(
  rows: ConformanceRow[],
  later: LaterParts,
  missing: readonly string[],
): string {
  const judged = rows.map((row) => judge(row, later, missing));
  const documents = sourceDocuments.map((document) => ({
    document,
    rows: judged.filter(({ row }) => placeOfId(row.id).source === document.source),
  }));
  return [
    "# Conformance",
    "",
    "<!-- Made by `npm run spec -- --page` from spec/ledger.json and spec/later.json: change those. -->",
    "",
    "Every requirement of the five documents that mcpx implements, in our own words, and how it stands. A requirement that works as written is shown by a test with its id in the title. *Differs* says what we do instead and why. For *not shown* no test names the requirement yet, so nothing is claimed. *Not built* says why.",
    "",
    `| document | requirements | ${states.join(" | ")} |`,
    `|---|---:|${states.map(() => "---:").join("|")}|`,
    ...documents.map(({ document, rows }) => summary(document, rows)),
    "",
    ...documents.flatMap(({ document, rows }) => [`## ${document.name}`, "", ...sections(document, rows)]),
  ].join("\n");
}

function judge(row: ConformanceRow, later: LaterParts, missing: readonly string[]): Judged {
  const reason = later[row.part];
  if (row.level === "N") return { row, state: "not built", words: row.decision };
  if (reason !== undefined) return { row, state: "not built", words: `${capital(reason)}.` };
  if (missing.includes(row.id)) return { row, state: "not shown", words: row.decision };
  if (row.differs !== undefined) return { row, state: "differs", words: row.differs };
  return { row, state: "as written", words: row.decision };
}

function summary({ name }: SourceDocument, rows: readonly Judged[]): string {
  const counts = states.map((state) => rows.filter((one) => one.state === state).length);
  return `| [${name}](#${anchor(name)}) | ${rows.length} | ${counts.join(" | ")} |`;
}

function sections(document: SourceDocument, rows: readonly Judged[]): string[] {
  const bySection = Map.groupBy(rows, ({ row }) => placeOfId(row.id).section);
  return [...bySection].flatMap(([section, inside]) => [
    `### ${heading(document, section)}`,
    "",
    "| id | requirement | state | |",
    "|---|---|---|---|",
    ...inside.map(
      ({ row, state, words }) => `| ${row.id} | ${cell(row.text)} | ${shown(state)} | ${cell(words)} |`,
    ),
    "",
  ]);
}

function heading({ numbering, sections: titles, name }: SourceDocument, section: string): string {
  const title = titles[section];
  if (title === undefined) throw new Error(`section ${section} of ${name} has no title in documents.ts`);
  if (numbering === "none" || !/^\d/.test(section)) return title;
  return numbering === "§" ? `§${section} ${title}` : `Part ${section}: ${title}`;
}

function shown(state: State): string {
  return state === "as written" ? state : `**${state}**`;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|");
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** As GitHub makes them of headings. */
function anchor(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}

// The table of docs/CLIENTS.md: written by the runs themselves (`MCPX_WRITE_CLIENTS=1`), and compared with them.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { cells } from "./driver.ts";
import type { Findings } from "./trial.ts";

const root = join(import.meta.dirname, "..", "..", "..");
const path = join(root, "docs", "CLIENTS.md");

export interface Row {
  client: string;
  version: string;
  findings: Findings;
}

/** Of a package that is installed in this folder. */
export function versionOf(name: string, dir = root): string {
  return JSON.parse(readFileSync(join(dir, "node_modules", name, "package.json"), "utf8")).version;
}

export function pageRow(client: string): Row | undefined {
  return rowsOf(readFileSync(path, "utf8")).find((row) => row.client === client);
}

/** In the place of the row there was, else at the end. */
export function writeRow(row: Row): void {
  const page = readFileSync(path, "utf8");
  const rows = rowsOf(page);
  const place = rows.findIndex(({ client }) => client === row.client);
  if (place === -1) rows.push(row);
  else rows[place] = row;
  writeFileSync(path, page.replace(tableIn(page), tableOf(rows)));
}

function tableOf(rows: readonly Row[]): string {
  const head = ["client", "version", ...cells];
  const lines = rows.map(({ client, version, findings }) => [
    client,
    version,
    // What went wrong may be any text.
    ...cells.map((cell) => findings[cell].replaceAll(/[\s|]+/g, " ")),
  ]);
  return [head, head.map(() => "---"), ...lines].map((line) => `| ${line.join(" | ")} |`).join("\n");
}

function tableIn(page: string): string {
  const first = page.indexOf("| client |");
  return page.slice(first, page.indexOf("\n\n", first));
}

function rowsOf(page: string): Row[] {
  const [head = "", , ...lines] = tableIn(page).split("\n");
  const [, , ...columns] = head.slice(2, -2).split(" | ");
  return lines.map((line) => {
    const [client = "", version = "", ...found] = line.slice(2, -2).split(" | ");
    const findings = Object.fromEntries(
      cells.map((cell) => [cell, found[columns.indexOf(cell)] ?? "not tried"]),
    ) as Findings;
    return { client, version, findings };
  });
}

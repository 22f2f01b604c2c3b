// The servers that were found, as a table for people. Pure. No value of a variable or header is ever in it.
import { columns } from "../framework/output.ts";
import { shownReach } from "../framework/secrets.ts";
import { cut, visible } from "../framework/visible.ts";
import type { FoundServer } from "./find-servers.ts";
import type { LeftServer, PlannedServer } from "./plan-import.ts";

const widthMax = 100;

export function importTable(planned: readonly PlannedServer[]): string[] {
  const rows = planned.map(({ name, found, also }, index) => [
    String(index + 1).padStart(3),
    cut(visible(name), 22),
    originText(found, also.length),
    transportOf(found),
    reachText(found),
    cut(visible(secretNames(found).join(" ")), 24),
  ]);
  const head = ["  #", "NAME", "FROM", "HOW", "COMMAND OR URL", "ENV OR HEADERS"];
  const widest = (column: number) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0));
  const others = [0, 1, 2, 3, 5].reduce((sum, column) => sum + widest(column) + 2, 0);
  const room = Math.max(16, widthMax - others);
  return columns(
    [head, ...rows].map((row) => row.map((cell, column) => (column === 4 ? cut(cell, room) : cell))),
  );
}

/** What somebody should know before choosing, by number. */
export function importRemarks(planned: readonly PlannedServer[]): string[] {
  return planned.flatMap(({ name, found, also, takenBy }, index) => {
    const remarks = [
      takenBy === undefined ? "" : `${found.name} is taken by ${takenBy}: this one becomes ${name}`,
      also.length === 0 ? "" : `the same at ${also.map((other) => originText(other, 0)).join(", ")}`,
      found.entry.disabled === true ? "is off there, and stays off" : "",
      found.needs.length === 0 ? "" : `needs ${found.needs.join(", ")} in the environment of mcpx up`,
      found.untaken.length === 0 ? "" : `not taken over: ${found.untaken.join(", ")}`,
    ].filter((remark) => remark !== "");
    return remarks.map((remark) => cut(`${String(index + 1).padStart(3)}  ${visible(remark)}`, widthMax));
  });
}

export function leftLines(left: readonly LeftServer[]): string[] {
  const rows = left.map(({ found, why }) => [
    "  -",
    cut(visible(found.name), 22),
    originText(found, 0),
    visible(why),
  ]);
  return columns(rows).map((line) => cut(line, widthMax));
}

export function transportOf({ entry }: FoundServer): string {
  return entry.url === undefined ? "stdio" : (entry.type ?? "http");
}

export function secretNames({ entry: { env = {}, headers = {} } }: FoundServer): string[] {
  return [...Object.keys(env), ...Object.keys(headers)];
}

/** The command line or address, its secrets hidden. */
export function reachText({ entry }: FoundServer): string {
  return visible(shownReach(entry).join(" "));
}

function originText({ client, project }: FoundServer, more: number): string {
  const place =
    project === undefined ? client : `${client} ${cut(visible(project.split(/[\\/]/).at(-1) ?? ""), 14)}/`;
  return more === 0 ? place : `${place} +${more}`;
}

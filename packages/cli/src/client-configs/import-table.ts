// The servers that were found, as a table for people. Pure. No value of a variable or header is ever in it.
import { columns } from "../framework/output.ts";
import { shownReach } from "../framework/secrets.ts";
import { cut, visible } from "../framework/visible.ts";
import type { FoundServer } from "./find-servers.ts";
import type { LeftServer, PlannedServer } from "./plan-import.ts";

/** Nobody imports what they cannot read: the command stands last, and is longer than the terminal where it must be. */
const reachChars = 600;

export function importTable(planned: readonly PlannedServer[]): string[] {
  const hasSecrets = planned.some(({ found }) => secretNames(found).length > 0);
  const rows = planned.map(({ name, found, also }, index) => [
    String(index + 1).padStart(3),
    cut(visible(name), 22),
    originText(found, also.length),
    transportOf(found),
    ...(hasSecrets ? [cut(visible(secretNames(found).join(" ")), 24)] : []),
    cut(reachText(found), reachChars),
  ]);
  const head = ["  #", "NAME", "FROM", "HOW", ...(hasSecrets ? ["ENV OR HEADERS"] : []), "COMMAND OR URL"];
  return columns([head, ...rows]);
}

/** What somebody should know before choosing, by number. */
export function importNotes(planned: readonly PlannedServer[], width: number): string[] {
  return planned.flatMap(({ name, found, also, takenBy }, index) => {
    const notes = [
      takenBy === undefined ? "" : `${found.name} is taken by ${takenBy}: this one becomes ${name}`,
      also.length === 0 ? "" : `the same at ${also.map((other) => originText(other, 0)).join(", ")}`,
      found.entry.disabled === true ? "is disabled there, and stays disabled" : "",
      found.needs.length === 0 ? "" : `needs ${found.needs.join(", ")} in the environment of mcpx up`,
      found.untaken.length === 0 ? "" : `not imported: ${found.untaken.join(", ")}`,
    ].filter((note) => note !== "");
    return notes.map((note) => cut(`${String(index + 1).padStart(3)}  ${visible(note)}`, width));
  });
}

export function leftLines(left: readonly LeftServer[], width: number): string[] {
  const rows = left.map(({ found, why }) => [
    "  -",
    cut(visible(found.name), 22),
    originText(found, 0),
    visible(why),
  ]);
  return columns(rows).map((line) => cut(line, width));
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

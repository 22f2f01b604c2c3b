// Which records of the audit a command is about.
import type { AuditQuery, ChainedRow } from "@mcpx/host";
import { matchesGlob } from "@mcpx/protocol";
import { durationRule, parseDuration } from "../framework/duration.ts";
import { misuse } from "../framework/failure.ts";

export const filterOptions = {
  since: { type: "string", value: "TIME", about: "only records since then: 15m, 7d, or 2026-11-16T08:00Z" },
  action: { type: "string", value: "GLOB", about: "only these actions, such as token.revoke or 'gate.*'" },
  actor: { type: "string", value: "NAME", about: "only records of this actor" },
} as const;

export type AuditFilter = Pick<AuditQuery, "since" | "action" | "actor">;

const starsMax = 4;

export function readFilter(
  { since, action, actor }: Partial<Record<keyof typeof filterOptions, string | undefined>>,
  now: number,
): AuditFilter {
  if (action !== undefined && (action.match(/\*+/g)?.length ?? 0) > starsMax) {
    throw misuse(`--action ${action} has more than ${starsMax} stars`, "use fewer");
  }
  return { since: since === undefined ? undefined : readSince(since, now), action, actor };
}

export function isWanted(
  { at, action, actor }: Pick<ChainedRow, "at" | "action" | "actor">,
  filter: AuditFilter,
): boolean {
  return (
    at >= (filter.since ?? 0) &&
    (filter.actor === undefined || actor === filter.actor) &&
    isAction(action, filter)
  );
}

export function isAction(action: string, filter: Pick<AuditFilter, "action">): boolean {
  return filter.action === undefined || matchesGlob(filter.action.replace(/\*+/g, "**"), action);
}

function readSince(text: string, now: number): number {
  const agoMs = parseDuration(text);
  if (agoMs !== undefined) return now - agoMs;
  const at = /^[0-9]{4}-[0-9]{2}-[0-9]{2}/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at)) {
    throw misuse(`--since ${text} is neither ${durationRule} nor a time`, "write for example --since 1h");
  }
  return at;
}

// A record of the audit as people and programs read it. Everything in it may come from strangers. Pure.
import type { ChainedRow } from "@mcpx/host";
import { auditOutcome, type JsonObject, type OutcomeTone } from "@mcpx/protocol";
import type { Output } from "../framework/output.ts";
import { cut, visible } from "../framework/visible.ts";

const detailCharsMax = 120;
/** Most actions fit; those that do not move the rest of their line. */
const actionWidth = 16;
const resultWidth = 8;
const paints = { good: "green", bad: "red", odd: "yellow", plain: "dim" } as const satisfies Record<
  OutcomeTone,
  string
>;

/** Time, action, result, who and where, and the rest. */
export function auditCells(record: JsonObject): string[] {
  const { at, action, actor, subject, topic, detail, count } = record;
  const times = typeof count === "number" && count > 1 ? ` ×${count}` : "";
  const people = [actor, subject].filter((part) => part !== undefined).join(" → ");
  const place = topic === undefined ? "" : ` in ${topic}`;
  const more = detail === undefined ? "" : cut(JSON.stringify(detail), detailCharsMax);
  const result = `${outcomeOf(record).label}${times}`;
  return [shortTime(at), String(action), result, `${people}${place}`, more].map(visible);
}

/** One by itself, where nobody knows yet how wide the next will be. */
export function auditLine(record: JsonObject, { paint }: Pick<Output, "paint">): string {
  const [at = "", action = "", result = "", people = "", more = ""] = auditCells(record);
  const parts = [
    paint("dim", at),
    action.padEnd(actionWidth),
    paint(paints[outcomeOf(record).tone], result.padEnd(resultWidth)),
    people,
    paint("dim", more),
  ];
  return parts.join("  ").trimEnd();
}

function outcomeOf({ action, reason }: JsonObject) {
  return auditOutcome({ action, reason });
}

/** As the gateway tells it: without what is not there, and the detail read. */
export function recordOf(row: ChainedRow): JsonObject {
  const { seq, at, action, reason, actor, subject, topic, detail, count, hash } = row;
  const given = Object.entries({ reason, actor, subject, topic }).filter(([, value]) => value !== null);
  return {
    seq,
    at: new Date(at).toISOString(),
    action,
    ...Object.fromEntries(given),
    ...(detail !== null && { detail: JSON.parse(detail) }),
    count,
    hash,
  };
}

function shortTime(at: unknown): string {
  return String(at).slice(0, 19).replace("T", " ");
}

// A gate as a proposal in a room: what its payload says, and reading it back. An approver needs nothing else to sign. Pure.
// [B-GATE-1]

import { fitsRoom, type RoomBounds } from "../envelope/fits-room.ts";
import type { ArgumentChange } from "../json/argument-diff.ts";
import { parseExact } from "../json/exact-json.ts";
import { isObject, type JsonObject } from "../json/json-rpc.ts";
import { type GateTerms, namesAsker, readStatement, statementOf } from "./gate.ts";

/** What stands in `payload.mcpax`. */
export interface GateNotice extends GateTerms {
  /** To the byte what will be sent; absent where it does not fit into an envelope. */
  arguments_text?: string;
  arguments_chars: number;
  annotation: JsonObject;
  approve_url: string;
  /** How many must approve. */
  approvers: number;
  asked_by: string;
  asked_at: string;
  /** As `classify` says. */
  why: string;
  /** Where the tool's schema says that arguments are secret. */
  secrets?: string[];
  /** The call of this tool that was approved last, and what is different now. */
  last?: { at: string; by: string[]; changes: ArgumentChange[]; more: number };
}

const prefix = "gate-";

/** The same gate has the same proposal, however often it is published. */
export function gateProposalId(confirmationId: string): string {
  return `${prefix}${confirmationId}`;
}

/** The gate a proposal of this id is about. */
export function gateOfProposal(proposalId: string): string | undefined {
  return proposalId.startsWith(prefix) ? proposalId.slice(prefix.length) : undefined;
}

/** Nothing is cut: what does not fit is left out as a whole, and said to be. `reason` is for people. */
export function gateProposal(
  notice: GateNotice & { arguments_text: string },
  reason: string,
  bounds: RoomBounds,
): JsonObject {
  const whole = payloadOf(notice, reason, {
    name: notice.tool,
    arguments: parseExact(notice.arguments_text),
  });
  if (fitsRoom(whole, bounds)) return whole;
  const { arguments_text: _, ...rest } = notice;
  const note = `The arguments (${notice.arguments_chars} characters) do not fit into this room: read them at ${notice.approve_url}`;
  const params = { name: notice.tool, arguments_digest: notice.arguments_digest };
  const short = payloadOf(rest, `${reason} ${note}`, params);
  if (fitsRoom(short, bounds)) return short;
  const { last: __, ...least } = rest;
  return payloadOf(least, `${reason} ${note}`, params);
}

/** What is decided at the last moment is told a moment later; that time is over is told too. */
const tellingMs = 60_000;

function payloadOf(notice: GateNotice, reason: string, params: JsonObject): JsonObject {
  const expires_at = new Date(notice.expires_at * 1_000 + tellingMs).toISOString();
  return { method: "tools/call", params, reason, expires_at, mcpax: { ...notice } };
}

const changesMax = 100;

/** Everybody can write a proposal: every field is looked at, and `undefined` is no gate. */
export function readGateNotice(value: unknown): GateNotice | undefined {
  if (!isObject(value)) return undefined;
  const { arguments_text, arguments_chars, annotation, approve_url, approvers, asked_by, asked_at, why } =
    value;
  const terms = readTerms(value);
  const texts = [approve_url, asked_by, asked_at, why];
  if (terms === undefined || !texts.every((text) => typeof text === "string")) return undefined;
  if (!isObject(annotation) || !isCount(approvers) || !isCount(arguments_chars)) return undefined;
  // What is shown as the asker is what is signed as the asker.
  if (namesAsker(terms) && terms.asker !== asked_by) return undefined;
  const last = readLast(value.last);
  const secrets = readPlaces(value.secrets);
  return {
    ...terms,
    ...(typeof arguments_text === "string" && { arguments_text }),
    arguments_chars,
    annotation,
    approve_url: String(approve_url),
    approvers,
    asked_by: String(asked_by),
    asked_at: String(asked_at),
    why: String(why),
    ...(secrets.length > 0 && { secrets }),
    ...(last && { last }),
  };
}

function readTerms(value: JsonObject): GateTerms | undefined {
  try {
    const { decision: _, ...terms } = readStatement(statementOf(value as JsonObject & GateTerms, "approve"));
    return terms;
  } catch {
    return undefined;
  }
}

const placesMax = 100;

function readPlaces(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value.filter((place) => typeof place === "string").slice(0, placesMax);
}

function readLast(value: unknown): GateNotice["last"] {
  if (!isObject(value) || typeof value.at !== "string") return undefined;
  const { at, by, changes, more } = value;
  return {
    at,
    by: Array.isArray(by) ? by.filter((name) => typeof name === "string") : [],
    changes: Array.isArray(changes) ? changes.filter(isChange).slice(0, changesMax) : [],
    more: isCount(more) ? more : 0,
  };
}

function isChange(value: unknown): value is ArgumentChange {
  if (!isObject(value)) return false;
  const { path, old, new: now } = value;
  return [path, old ?? "", now ?? ""].every((text) => typeof text === "string");
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

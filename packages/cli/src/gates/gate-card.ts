// A call that waits at a gate, as a card: who wants what, how dangerous it is, what is different from the last time,
// and how to decide. All of the arguments are shown: they are what is signed. Pure.
import {
  isObject,
  maskChange,
  maskSecrets,
  namesAsker,
  parseExact,
  secretTexts,
  whoseWordText,
} from "@mcpx/protocol";
import { endText } from "../framework/duration.ts";
import type { Output } from "../framework/output.ts";
import { visible } from "../framework/visible.ts";
import { argumentWarnings } from "./argument-warnings.ts";
import type { GateReport } from "./gate-access.ts";
import { heldLines } from "./held-result.ts";

export interface GateCardOptions {
  nowMs: number;
  /** What looks like a secret is shown too. */
  isOpen: boolean;
  /** What to type to decide; without it that is asked otherwise. */
  decide?: { approve: string; reject: string } | undefined;
  /** What the reader calls it, where that is not its id. */
  label?: string | undefined;
  /** What shows secrets too; `--secrets` unless given. */
  open?: string | undefined;
}

const width = 80;
/** From here on letters may be two columns wide. */
const firstWide = 0x1100;
const reasonCharsMax = 300;
const styles = { "+": "green", "-": "red" } as const;

type Style = Parameters<Output["paint"]>[0];

interface ChangeLine {
  sign?: keyof typeof styles;
  text: string;
}

export function gateCard(
  gate: GateReport,
  { paint }: Pick<Output, "paint">,
  options: GateCardOptions,
): string[] {
  const { id, tool, status, terms } = gate;
  const { nowMs, isOpen, decide, label, open = "--secrets" } = options;
  const bar = paint("yellow", "│");
  // Each row begins with the bar: whatever the arguments say, they cannot draw a card of their own.
  const rows = (line: string, style?: Style) =>
    wrapped(line, width - 2).map((row) => `${bar} ${style === undefined ? row : paint(style, row)}`);
  const plain = [
    `${wishText(gate)}; ${whyText(gate)}`,
    ...argumentLines(gate, isOpen).map((line, index) => `${index === 0 ? "with " : "     "}${line}`),
  ];
  const after = [
    `danger: ${dangerText(gate)}`,
    ...wordLines(gate),
    ...signedLines(gate),
    ...belowLines(gate),
    ...(terms.route.length > 2 ? [`by way of ${visible(terms.route.slice(0, -1).join(" → "))}`] : []),
    ...(gate.place === undefined ? [] : [visible(gate.place)]),
    ...approvalLines(gate),
    isUndecided(gate) ? untilText(gate, nowMs) : stateText(gate),
  ];
  return [
    `${paint("yellow", label === undefined ? "┌" : `┌ ${label} `)} ${paint("bold", visible(tool))}`,
    ...plain.flatMap((line) => rows(line)),
    ...hiddenLines(gate, isOpen, open).flatMap((line) => rows(line, "yellow")),
    ...warningLines(gate).flatMap((line) => rows(line, "red")),
    ...(status === "held" ? [] : changeLines(gate, isOpen)).flatMap(({ sign, text }) =>
      sign === undefined ? rows(text) : rows(text, styles[sign]),
    ),
    ...resultRows(gate, isOpen).flatMap((line) => rows(line)),
    ...after.flatMap((line) => rows(line)),
    ...decideRows(isUndecided(gate) ? decide : undefined, {
      bar,
      end: paint("yellow", "└"),
      canBeApproved: namesAsker(terms),
      otherwise: paint("dim", `gate ${id}`),
    }),
  ];
}

/** What can be typed; nothing that would be refused. */
function decideRows(
  decide: GateCardOptions["decide"],
  {
    bar,
    end,
    canBeApproved,
    otherwise,
  }: { bar: string; end: string; canBeApproved: boolean; otherwise: string },
): string[] {
  if (decide === undefined) return [`${end} ${otherwise}`];
  if (!canBeApproved) return [`${end} ${decide.reject}`];
  return [`${bar} ${decide.reject}`, `${end} ${decide.approve}`];
}

/** A human has to decide, about the call or about its result. */
export function isUndecided({ status }: GateReport): boolean {
  return status === "pending" || status === "held";
}

/** Where the call goes, as it is signed; in gates of older builds neither that nor the asker is. */
function signedLines({ terms }: GateReport): string[] {
  if (!namesAsker(terms))
    return ["asker not signed: an older build stored this call; it can only be rejected"];
  const { name, tool, identity } = terms.server;
  return [`goes to ${visible(name)}, tool ${visible(tool)} (${visible(identity)})`];
}

/** Where it will stop again; `--below` signs for these gates too. */
function belowLines({ below = [], status }: GateReport): string[] {
  if (status !== "pending") return [];
  return below.map(
    ({ aggregator_id, tool, server }) =>
      `stops again below at ${visible(tool)} of ${visible(server?.name ?? "")}, aggregator ${visible(aggregator_id)}`,
  );
}

function wishText({ principal, status, why }: GateReport): string {
  if (why === "weaker gates") return "a change of this gateway that an approver has to sign";
  return `${visible(principal)} ${status === "held" ? "has called it" : "wants to call it"}`;
}

function resultRows(gate: GateReport, isOpen: boolean): string[] {
  if (gate.status !== "held") return [];
  const lines = heldLines(gate, isOpen).map((line) => `  ${line}`);
  return ["the call was made; this is its result, which the caller has not seen:", ...lines];
}

/** Where what is wanted has ended, in a line. */
export function stateText(gate: GateReport): string {
  const { status, rejectedBy, reason, approvals, approvers, review } = gate;
  const why = reason === undefined ? "" : `: ${visible(reason).slice(0, reasonCharsMax)}`;
  switch (status) {
    case "pending":
      return `${approvals.length} of ${approvers} have approved; it waits for more`;
    case "approved":
    case "consumed":
      return "approved; the call is under way";
    case "done":
      return review === undefined ? "approved, and done" : "done, and its result was released";
    case "failed":
      return review === undefined
        ? "approved, but the call has failed"
        : "the call has failed, and its error was released";
    case "held":
      return `the call was made; ${review?.approvals.length ?? 0} of ${approvers} have released its result`;
    case "withheld":
      return `the call was made; its result was withheld${rejectedBy === undefined ? "" : ` by ${visible(rejectedBy)}`}${why}`;
    case "rejected":
      return `rejected by ${visible(rejectedBy ?? "somebody")}${why}`;
    case "refused":
      return `approved, and not sent: it could not be sent as it was signed${why}`;
    case "expired":
      return "expired: no approver decided in time";
    case "indeterminate":
      return "outcome unknown: the call may or may not have been made; it is never sent again";
    default:
      return visible(status);
  }
}

/** One line where it fits, else one for each value; nothing is left out. */
function argumentLines({ argumentsText, leftOut, secrets: places }: GateReport, isOpen: boolean): string[] {
  if (leftOut !== undefined) return [visible(leftOut)];
  const given = parseExact(argumentsText);
  const value = isOpen ? given : maskSecrets(given, places);
  const short = visible(JSON.stringify(value));
  return short.length <= width - 7 ? [short] : prettyLines(value).map(visible);
}

function hiddenLines(gate: GateReport, isOpen: boolean, open: string): string[] {
  const count = isOpen ? 0 : new Set(secretTexts(argumentsOf(gate), gate.secrets)).size;
  if (count === 0) return [];
  return [`${count === 1 ? "a value looks" : `${count} values look`} like a secret: ${open} shows it`];
}

/** What hides or imitates something, in the tool or in what it is given. */
function warningLines(gate: GateReport): string[] {
  const told = Array.isArray(gate.warnings) ? gate.warnings : [];
  return [...told.map((warning) => `⚠ ${visible(String(warning))}`), ...argumentWarnings(argumentsOf(gate))];
}

/** What is different from the call of this tool that was approved last. */
function changeLines({ last, ...gate }: GateReport, isOpen: boolean): ChangeLine[] {
  if (last === undefined) return [{ text: "no call of it was approved before" }];
  const { changes, more } = last;
  const by = last.approvals.map((one) => one.by).join(", ");
  const when = `${visible(last.settledAt.slice(0, 16).replace("T", " "))} by ${visible(by)}`;
  if (changes.length === 0) return [{ text: `the same was approved ${when}` }];
  const shown = isOpen ? changes : changes.map((change) => maskChange(change, gate.secrets));
  const line = (sign: "+" | "-", path: string, text: string | undefined): ChangeLine[] => {
    if (text === undefined) return [];
    return [{ sign, text: `  ${sign} ${visible(`${path}: ${text}`)}` }];
  };
  return [
    { text: `another was approved ${when}:` },
    ...shown.flatMap(({ path, old, new: now }) => [...line("-", path, old), ...line("+", path, now)]),
    ...(more === 0 ? [] : [{ text: `  … and ${more} more changes` }]),
  ];
}

function argumentsOf({ argumentsText, leftOut }: Pick<GateReport, "argumentsText" | "leftOut">): unknown {
  return leftOut === undefined ? parseExact(argumentsText) : {};
}

function prettyLines(value: unknown): string[] {
  return JSON.stringify(sorted(value), null, 2).split("\n");
}

/** The order of names means nothing, and must not look like a difference. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value) || isRaw(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}

/** A number that is kept as its text. */
function isRaw(value: object): boolean {
  return (JSON as unknown as { isRawJSON(value: unknown): boolean }).isRawJSON(value);
}

/** Pieces of at most so many columns; what a terminal may draw wider than a letter counts twice. */
export function wrapped(text: string, columnsMax: number): string[] {
  const rows: string[] = [];
  let row = "";
  let columns = 0;
  for (const char of text) {
    const wide = (char.codePointAt(0) ?? 0) >= firstWide ? 2 : 1;
    if (columns + wide > columnsMax) {
      rows.push(row);
      row = "";
      columns = 0;
    }
    row += char;
    columns += wide;
  }
  return [...rows, row];
}

function whyText({ why }: GateReport): string {
  if (why === "irreversible") return "it cannot be undone";
  if (why === "unannotated") return "no trusted annotation says how dangerous it is";
  if (why === "panic") return "panic is on: every call waits for an approval";
  if (why === "weaker gates") return "it makes gates weaker, or changes who approves";
  return `${visible(why)} asks for it`;
}

/** Who says how dangerous the tool is. */
function wordLines({ word }: GateReport): string[] {
  const text = whoseWordText(word);
  return text === undefined ? [] : [`        ${text}`];
}

function dangerText({ capability, why }: GateReport): string {
  const { mutable, reversible, idempotent, auth_scope, cost_class } = capability;
  const costs = [
    ...(typeof auth_scope === "string" ? [`needs ${auth_scope}`] : []),
    ...(typeof cost_class === "string" && cost_class !== "free" ? [cost_class] : []),
  ];
  if (why === "unannotated") return assumedText(costs);
  if (mutable === false) return "it only reads";
  const parts = [
    "it changes things",
    reversible === true ? "can be undone" : "cannot be undone",
    ...(idempotent === true ? ["idempotent"] : []),
    ...costs,
  ];
  return visible(parts.join(", "));
}

function assumedText(costs: readonly string[]): string {
  const more = costs.length === 0 ? "" : ` (${costs.join(", ")})`;
  return visible(`treated as irreversible${more}`);
}

function approvalLines({ approvals, review, approvers }: GateReport): string[] {
  const [given, done] = review === undefined ? [approvals, "approved"] : [review.approvals, "released it"];
  if (approvers < 2 && given.length === 0) return [];
  const who = given.map(({ by }) => by).join(", ");
  return [`${given.length} of ${approvers} have ${done}${who === "" ? "" : `: ${visible(who)}`}`];
}

function untilText({ expiresAt }: GateReport, nowMs: number): string {
  return `until ${endText(new Date(expiresAt).getTime(), nowMs)}`;
}

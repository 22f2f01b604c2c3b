// A call that waits at a gate, as a card: who wants what, how dangerous it is, what is different from the last time, and
// how to decide. All of the arguments are shown: they are what is signed. Pure.
import { isObject, type JsonObject, parseExact } from "@mcpx/protocol";
import { formatDuration } from "./duration.ts";
import type { GateReport } from "./gate-desk.ts";
import type { Output } from "./output.ts";
import { hideSecrets, secretsIn } from "./secrets.ts";
import { type DiffLine, diffLines } from "./text-diff.ts";
import { cut, visible } from "./visible.ts";

export interface GateCardOptions {
  nowMs: number;
  /** What looks like a secret is shown too. */
  isOpen: boolean;
  /** How to decide; without it that is asked otherwise. */
  program?: string | undefined;
}

const width = 80;
/** From here on letters may be two columns wide. */
const firstWide = 0x1100;
const reasonCharsMax = 300;
const styles = { "+": "green", "-": "red", " ": "dim", "…": "dim" } as const;

type Style = Parameters<Output["paint"]>[0];

interface ChangeLine {
  sign?: DiffLine["sign"];
  text: string;
}

export function gateCard(
  gate: GateReport,
  { paint }: Pick<Output, "paint">,
  options: GateCardOptions,
): string[] {
  const { id, tool, principal, status, terms } = gate;
  const { nowMs, isOpen, program } = options;
  const bar = paint("yellow", "│");
  // Each row begins with the bar: whatever the arguments say, they cannot draw a card of their own.
  const rows = (line: string, style?: Style) =>
    wrapped(line, width - 2).map((row) => `${bar} ${style === undefined ? row : paint(style, row)}`);
  const plain = [
    `${visible(principal)} wants to call it; ${whyText(gate)}`,
    ...argumentLines(gate, isOpen).map((line, index) => `${index === 0 ? "with " : "     "}${line}`),
  ];
  const after = [
    `danger: ${dangerText(gate.capability)}`,
    ...(terms.route.length > 2 ? [`by way of ${visible(terms.route.slice(0, -1).join(" → "))}`] : []),
    ...approvalLines(gate),
    status === "pending" ? untilText(gate, nowMs) : stateText(gate),
  ];
  const isOpenGate = status === "pending" && program !== undefined;
  return [
    `${paint("yellow", "┌")} ${paint("bold", visible(tool))}`,
    ...plain.flatMap((line) => rows(line)),
    ...hiddenLines(gate, isOpen).flatMap((line) => rows(line, "yellow")),
    ...changeLines(gate, isOpen).flatMap(({ sign, text }) =>
      sign === undefined ? rows(text) : rows(text, styles[sign]),
    ),
    ...after.flatMap((line) => rows(line)),
    ...(isOpenGate
      ? [`${bar} ${program} reject ${id} --reason TEXT`, `${paint("yellow", "└")} ${program} approve ${id}`]
      : [`${paint("yellow", "└")} ${paint("dim", `gate ${id}`)}`]),
  ];
}

/** Where what is wanted has ended, in a line. */
export function stateText({ status, rejectedBy, reason, approvals, approvers }: GateReport): string {
  const why = reason === undefined ? "" : `: ${visible(reason).slice(0, reasonCharsMax)}`;
  switch (status) {
    case "pending":
      return `${approvals.length} of ${approvers} have approved; it waits for more`;
    case "approved":
    case "consumed":
      return "approved; the call is under way";
    case "done":
      return "approved, and done";
    case "failed":
      return "approved, but the call has failed";
    case "rejected":
      return `rejected by ${visible(rejectedBy ?? "somebody")}${why}`;
    case "expired":
      return "expired: nobody has decided in time";
    case "indeterminate":
      return "it is not known whether it has happened; it is never tried again";
    default:
      return visible(status);
  }
}

/** One line where it fits, else one for each value; nothing is left out. */
function argumentLines({ argumentsText }: GateReport, isOpen: boolean): string[] {
  const value = parseExact(argumentsText);
  const secrets = isOpen ? [] : secretsIn(value);
  const short = visible(JSON.stringify(value));
  const shown = short.length <= width - 7 ? [short] : prettyLines(argumentsText).map(visible);
  return shown.map((line) => hideSecrets(line, secrets));
}

function hiddenLines({ argumentsText }: GateReport, isOpen: boolean): string[] {
  const count = isOpen ? 0 : new Set(secretsIn(parseExact(argumentsText))).size;
  if (count === 0) return [];
  return [`${count === 1 ? "a value looks" : `${count} values look`} like a secret: --secrets shows it`];
}

/** What is different from the call of this tool that was approved last. */
function changeLines({ last, argumentsText }: GateReport, isOpen: boolean): ChangeLine[] {
  if (last === undefined) return [{ text: "no call of it was approved before" }];
  const by = last.approvals.map((one) => one.by).join(", ");
  const when = `${last.settledAt.slice(0, 16).replace("T", " ")} by ${visible(by)}`;
  const [before, now] = [last.argumentsText, argumentsText];
  const lines = diffLines(prettyLines(before).join("\n"), prettyLines(now).join("\n"));
  if (lines.length === 0) return [{ text: `the same was approved ${when}` }];
  const secrets = isOpen ? [] : [before, now].flatMap((text) => secretsIn(parseExact(text)));
  const shown = ({ sign, text }: DiffLine) => {
    const line = `  ${sign} ${hideSecrets(visible(text), secrets)}`.trimEnd();
    return { sign, text: cut(line, width - 2) };
  };
  return [{ text: `another was approved ${when}:` }, ...lines.map(shown)];
}

function prettyLines(text: string): string[] {
  return JSON.stringify(sorted(parseExact(text)), null, 2).split("\n");
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
  if (why === "unannotated") return "it does not say how dangerous it is";
  if (why === "panic") return "panic is on, everything is asked for";
  return `${visible(why)} asks for it`;
}

function dangerText(capability: JsonObject): string {
  const { mutable, reversible, idempotent, auth_scope, cost_class } = capability;
  if (mutable === false) return "it only reads";
  const parts = [
    "it changes things",
    reversible === true ? "can be undone" : "cannot be undone",
    ...(idempotent === true ? ["twice is as once"] : []),
    ...(typeof auth_scope === "string" ? [`needs ${auth_scope}`] : []),
    ...(typeof cost_class === "string" && cost_class !== "free" ? [cost_class] : []),
  ];
  return visible(parts.join(", "));
}

function approvalLines({ approvals, approvers }: GateReport): string[] {
  if (approvers < 2 && approvals.length === 0) return [];
  const who = approvals.map(({ by }) => by).join(", ");
  return [`${approvals.length} of ${approvers} have approved${who === "" ? "" : `: ${visible(who)}`}`];
}

function untilText({ expiresAt }: GateReport, nowMs: number): string {
  const end = new Date(expiresAt);
  return `until ${end.toTimeString().slice(0, 8)}, ${formatDuration(end.getTime() - nowMs)} left`;
}

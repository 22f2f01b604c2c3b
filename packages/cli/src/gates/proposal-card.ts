// A proposal as a short card: who wants what of whom, until when, and how to decide. Pure.
import type { Proposal } from "@mcpx/client";
import { maskSecrets, secretTexts } from "@mcpx/protocol";
import { endText } from "../framework/duration.ts";
import type { Output } from "../framework/output.ts";
import { visible } from "../framework/visible.ts";
import { argumentWarnings } from "./argument-warnings.ts";
import { actionText, argumentsOf, jsonLines, shortened } from "./call-text.ts";

export interface CardOptions {
  /** What the user calls it: its number or id. */
  label: string;
  /** What its reader can do about it. */
  ways: readonly string[];
  nowMs: number;
  /** Everything, however long. */
  isWhole?: boolean;
  /** What looks like a secret too; as `isWhole` unless given. */
  isOpen?: boolean;
  /** The command that shows the whole proposal. */
  whole?: string;
  /** Where the tool's schema says that arguments are secret, as `callSecrets` knows. */
  secrets?: readonly string[];
}

const linesMax = 20;
const charsMax = 2_000;
const reasonCharsMax = 300;

export function proposalCard(
  proposal: Proposal,
  { paint }: Pick<Output, "paint">,
  options: CardOptions,
): string[] {
  const { label, ways, nowMs, isWhole, whole, isOpen = isWhole === true, secrets: places = [] } = options;
  const { proposer, method, params, reason, expiresAt, statuses, rejections } = proposal;
  const title = `${visible(proposer)} wants ${targetText(proposal)} to do ${actionText(method, params)}`;
  const value = argumentsOf(method, params);
  // Of a call with more to it than a name and arguments these stand one level deeper.
  const marked = value === params ? places.map((place) => `/arguments${place}`) : places;
  const secrets = isOpen ? 0 : secretTexts(value, marked).length;
  const all = jsonLines(secrets === 0 ? value : maskSecrets(value, marked));
  const given = isWhole ? all : shortened(all, linesMax, charsMax);
  const isCut = given.length !== all.length || given.some((line, index) => line !== all[index]);
  const said = [
    ...statuses.map(({ by, status }) => `${by}: ${status}`),
    ...rejections.map((one) => `${one.by}: no, ${one.reason ?? "no reason"}`),
  ].map((line) => visible(line).slice(0, reasonCharsMax));
  const body = [
    ...given.map((line, index) => `${index === 0 ? "with " : "     "}${line}`),
    ...argumentWarnings(argumentsOf(method, params)).map((line) => paint("red", line)),
    ...(secrets > 0 && whole
      ? [paint("yellow", `what looks like a secret is hidden: ${whole} shows it`)]
      : []),
    ...(isCut && whole ? [paint("red", `not all is shown: ${whole} shows the rest`)] : []),
    ...(reason === undefined ? [] : [`because ${visible(reason).slice(0, reasonCharsMax)}`]),
    ...said,
    `until ${endText(expiresAt, nowMs)}`,
  ];
  return [
    `${paint("yellow", `┌ proposal ${label}`)}  ${paint("bold", title)}`,
    ...body.map((line) => `${paint("yellow", "│")} ${line}`),
    `${paint("yellow", "└")} ${ways.join("   ")}`,
  ];
}

export function targetText({ targets }: Pick<Proposal, "targets">): string {
  return targets.length === 0 ? "somebody" : visible(targets.join(" or "));
}

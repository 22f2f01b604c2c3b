// A proposal as a card: what is asked, by whom, of whom, and what a person on the platform can do about it. Pure.
import type { Participant, Proposal } from "@mcpx/client";
import { type GateNotice, isObject, maskSecrets, readGateNotice, visibleJson, written } from "@mcpx/protocol";
import { type Button, cut, type Part, type Post, shown } from "../text/post.ts";
import type { Presses } from "./presses.ts";

export interface CardView {
  readonly card: string;
  readonly proposal: Proposal;
  readonly proposer: Participant | undefined;
  /** Words instead of buttons. */
  readonly hasButtons: boolean;
  /** A notification: it only says where to decide. */
  readonly isNotice: boolean;
  /** The room in the console. */
  readonly roomUrl: string | undefined;
  readonly presses?: Pick<Presses, "mayDecide"> | undefined;
  /** Where arguments are secret by the schema of their tool, as `callSecrets` knows. */
  readonly secrets: readonly string[];
}

/** By a plain call in the room. Everything else needs a key or a page. */
const plainMethods: readonly string[] = ["tools/call", "resources/read", "prompts/get"];
const argumentCharsMax = 1_500;
const textCharsMax = 500;
const voicesMax = 5;

/** Where to sign, of a call that waits at a gate of this gateway's own tree. A claim of anybody else is none. */
export function gateUrl(proposal: Proposal, proposer: Participant | undefined): string | undefined {
  const notice = proposer?.own === true ? readGateNotice(proposal.mcpax) : undefined;
  return notice !== undefined && /^https?:\/\//.test(notice.approve_url) ? notice.approve_url : undefined;
}

/** The same gate, where presses at this bridge may decide it. */
export function signableGate(
  proposal: Proposal,
  proposer: Participant | undefined,
  presses: Pick<Presses, "mayDecide"> | undefined,
): GateNotice | undefined {
  const notice = gateUrl(proposal, proposer) === undefined ? undefined : readGateNotice(proposal.mcpax);
  return notice !== undefined && presses?.mayDecide(notice) === true ? notice : undefined;
}

/** Whether pressing a button may decide it. */
export function isDecidable(proposal: Proposal): boolean {
  const { mcpax, method, targets } = proposal;
  return mcpax === undefined && plainMethods.includes(method) && targets.length === 1;
}

export function cardPost(view: CardView): Post {
  const { card, proposal, proposer, hasButtons, isNotice, roomUrl, presses, secrets } = view;
  const isOpen = proposal.status === "pending";
  const signUrl = isOpen ? gateUrl(proposal, proposer) : undefined;
  const isSignable = signableGate(proposal, proposer, presses) !== undefined;
  const mayPress = isOpen && !isNotice && (isDecidable(proposal) || isSignable);
  const words = mayPress && !hasButtons;
  const link =
    signUrl !== undefined
      ? { label: "Open to sign", url: signUrl }
      : isOpen && !mayPress && roomUrl !== undefined
        ? { label: "Open to decide", url: roomUrl }
        : undefined;
  return {
    parts: [
      ...headOf(proposal, secrets),
      ...(isOpen ? openLines(proposal, { isGate: signUrl !== undefined, isSignable }) : endLines(proposal)),
      ...(words ? [text(`To decide, write: approve ${card}   or: reject ${card} REASON`)] : []),
    ],
    buttons: mayPress && hasButtons ? buttonsOf(card) : [],
    link,
  };
}

/** For platforms that cannot edit: one line after the end. */
export function endPost({ proposal, card }: Pick<CardView, "proposal" | "card">): Post {
  const title = text(`Proposal ${card}: ${titleOf(proposal)}`, true);
  return { parts: [title, ...endLines(proposal)], buttons: [], link: undefined };
}

function buttonsOf(card: string): Button[] {
  return [
    { verb: "approve", label: "Approve", card },
    { verb: "reject", label: "Reject", card },
  ];
}

function headOf({ proposer, params, reason, ...proposal }: Proposal, places: readonly string[]): Part[] {
  const args = isObject(params.arguments) ? params.arguments : params;
  const json = visibleJson(JSON.stringify(maskSecrets(args, places)));
  const more = json.length > argumentCharsMax ? ` … (${json.length} characters)` : "";
  return [
    text(titleOf({ ...proposal, params }), true),
    text(`${shortened(proposer)} proposes it${reason === undefined ? "" : `: ${shortened(reason)}`}`),
    { kind: "code", text: `${cut(json, argumentCharsMax)}${more}` },
  ];
}

function titleOf({ method, params, targets }: Pick<Proposal, "method" | "params" | "targets">): string {
  const what =
    method === "tools/call" ? written(params.name) : `${method} ${written(params.uri ?? params.name ?? "")}`;
  return shortened(`${targets.join(", ") || "anybody"}: ${what}`);
}

function openLines(
  { expiresAt, rejections, statuses, mcpax }: Proposal,
  { isGate, isSignable }: { isGate: boolean; isSignable: boolean },
): Part[] {
  const until = `Open until ${new Date(expiresAt).toISOString().slice(0, 19)}Z`;
  const why = isGate
    ? ` · requires a signature${isSignable ? ", or the press of an approver who was enrolled here" : ""}`
    : mcpax === undefined
      ? ""
      : " · looks like a gate, but this gateway has not made it";
  return [
    text(`${until}${why}`),
    ...rejections
      .slice(-voicesMax)
      .map(({ by, reason }) => text(`${shortened(by)} advises against it${reasonText(reason)}`)),
    ...statuses.slice(-voicesMax).map(({ by, status }) => text(`${shortened(by)}: ${shortened(status)}`)),
  ];
}

function endLines(proposal: Proposal): Part[] {
  const { status, fulfilment, rejections, withdrawal, lateCall } = proposal;
  const last = rejections.at(-1);
  const late = lateCall === undefined ? [] : [text(`Called afterwards by ${shortened(lateCall.fulfiller)}`)];
  switch (status) {
    case "pending":
      return [];
    case "fulfilled": {
      const changed = fulfilment?.isChanged ? ", with changes" : "";
      return [
        text(
          `Approved by ${shortened(fulfilment?.fulfiller ?? "")}${changed} · ${outcomeOf(proposal)}`,
          true,
        ),
      ];
    }
    case "rejected":
      return [text(`Rejected by ${shortened(last?.by ?? "")}${reasonText(last?.reason)}`, true), ...late];
    case "withdrawn":
      return [text(`Withdrawn${reasonText(withdrawal?.reason)}`, true), ...late];
    case "expired":
      return [text("Expired: nobody decided in time", true), ...late];
  }
}

/** That it was done, never the result: results may be for fewer people than the channel has. */
function outcomeOf({ result, error }: Proposal): string {
  if (error !== undefined) return "failed";
  if (result === undefined) return "under way";
  return result.isError === true ? "failed" : "done";
}

function reasonText(reason: string | undefined): string {
  return reason === undefined ? "" : `: ${shortened(reason)}`;
}

function shortened(value: string): string {
  return shown(cut(value, textCharsMax)).replaceAll("\n", " ");
}

function text(words: string, isStrong = false): Part {
  return { kind: "text", text: words, ...(isStrong && { isStrong }) };
}

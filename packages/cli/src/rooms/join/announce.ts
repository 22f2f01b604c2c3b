// What happens in the room, told as it happens.
import type { Proposal, ProposalChange } from "@mcpx/client";
import type { JsonObject } from "@mcpx/protocol";
import { cut, visible } from "../../framework/visible.ts";
import { resultLines, shortened } from "../../gates/call-text.ts";
import { roomGate } from "../../gates/room-gate-access.ts";
import { addressees, timeText } from "../envelope-line.ts";
import { changedCallLines } from "./changed-call.ts";
import { type ChatLine, cardOf, learnSecrets, secretsOf } from "./chat-line.ts";

const chatCharsMax = 2_000;

/** Prints the room's events until the room is closed. */
export function announce(chat: ChatLine): void {
  const { room, output, tell } = chat;
  const { paint } = output;
  const note = (text: string, event: JsonObject) => tell([paint("dim", `-- ${visible(text)}`)], event);
  room.addEventListener("chat", ({ detail }) => {
    const { from, to, text, at } = detail;
    const people = visible(to.length === 0 ? from : `${from} → ${addressees(to)}`);
    const time = timeText(at, new Date());
    const line = [paint("dim", time), paint("cyan", people), cut(visible(text), chatCharsMax)].join("  ");
    tell([line], { event: "chat", ...detail });
  });
  room.addEventListener("presence", ({ detail }) => {
    const { event, participant, reason } = detail;
    if (event === "heartbeat") return;
    const { id, kind, privilege } = participant;
    const about = event === "join" ? [kind, privilege] : [reason === "left" ? undefined : reason];
    const more = about.filter((part) => part !== undefined).join(", ");
    const text = `${id} ${event === "join" ? "joined" : "left"}${more === "" ? "" : ` (${more})`}`;
    note(text, { ...detail, event: "presence", type: event });
  });
  room.addEventListener("proposal", ({ detail }) => announceProposal(chat, detail));
  room.addEventListener("level", ({ detail }) => {
    const who = detail.participant === room.id ? "you are" : `${detail.participant} is`;
    note(`${who} now ${detail.new}, by ${detail.by}`, { event: "level", ...detail });
  });
  room.addEventListener("notification", ({ detail }) => {
    if (detail.method !== "notifications/tools/list_changed") return;
    note(`${detail.from} has other tools now`, { event: "notification", ...detail });
  });
  room.addEventListener("state", ({ detail }) => {
    const { state, reason } = detail;
    if (state === "closed") return;
    const text = state === "live" ? "back" : `connection lost (${reason}), trying again`;
    note(text, { event: "state", ...detail });
  });
  room.addEventListener("gap", ({ detail }) =>
    note(`what was said meanwhile is not known (${detail.reason})`, { event: "gap", ...detail }),
  );
  room.addEventListener("error", ({ detail }) =>
    note(detail.message, { event: "error", message: detail.message }),
  );
}

function announceProposal(chat: ChatLine, { type, proposal, by }: ProposalChange): void {
  const { room, numbers, output, tell } = chat;
  const number = numbers.of(proposal.id);
  const event = { event: "proposal", type, by, number, proposal };
  const isOurs = proposal.proposer === room.id;
  if (type === "proposed") {
    // Our own was told by the command that made it.
    if (!isOurs) void learnSecrets(chat, [proposal]).then(() => tell(cardOf(chat, proposal), event));
    return;
  }
  const { fulfilment, lateCall, rejections, statuses, result, error } = proposal;
  if (roomGate(room, proposal) !== undefined) {
    const text = gateNews(type, proposal, by);
    tell([output.paint("yellow", `-- proposal ${number}: ${cut(visible(text), 300)}`)], event);
    return;
  }
  const because = (who: string | undefined) =>
    rejections.find((one) => one.by === who)?.reason ?? "no reason";
  const texts: Record<Exclude<ProposalChange["type"], "proposed">, string> = {
    status: `${by}: ${statuses.find((one) => one.by === by)?.status}`,
    advice: `${by} advises against it: ${because(by)}`,
    fulfilled: `approved by ${by}${fulfilment?.isChanged ? ", with changes" : ""}`,
    "called late": `had ended, and ${by} made the call anyway${lateCall?.isChanged ? ", with changes" : ""}`,
    answered: error !== undefined ? `failed: ${error.message}` : result?.isError === true ? "failed" : "done",
    rejected: `rejected by ${by}: ${because(by)}`,
    withdrawn: `withdrawn by ${by}`,
    expired: "expired",
  };
  const caller = (fulfilment ?? lateCall)?.fulfiller;
  const lines = [output.paint("yellow", `-- proposal ${number} ${cut(visible(texts[type]), 300)}`)];
  if (type === "fulfilled" || type === "called late")
    lines.push(...changedCallLines(proposal, output, secretsOf(chat, proposal)));
  // The participant who approved it sees the answer as the answer of the call.
  if (type === "answered" && isOurs && result !== undefined && caller !== room.id) {
    lines.push(...shortened(resultLines(result), 200, 20_000).map((line) => `   ${line}`));
  }
  tell(lines, event);
}

/** A gate is told of by its tree: what it says counts, and who else has something to say is advice. */
function gateNews(type: ProposalChange["type"], proposal: Proposal, by: string | undefined): string {
  const { rejections, statuses, withdrawal, result } = proposal;
  const said = rejections.find((one) => one.by === by)?.reason ?? "no reason";
  switch (type) {
    case "status":
      return statuses.find((one) => one.by === by)?.reason ?? `${by} thinks about it`;
    case "advice":
      return `${by} advises against it: ${said}`;
    case "fulfilled":
    case "called late":
      return "it was approved, and is being called";
    case "answered":
      return result === undefined ? "its outcome is not known" : resultLines(result).join(" ");
    case "rejected":
      return said;
    case "withdrawn":
      return withdrawal?.reason ?? "it has ended";
    default:
      return "expired: nobody decided in time";
  }
}

// What each command of the chat line does.
import type { Proposal } from "@mcpx/client";
import { type Decision, isObject, type JsonObject } from "@mcpx/protocol";
import { Failure } from "../../framework/failure.ts";
import { suggestion } from "../../framework/nearest.ts";
import { columns } from "../../framework/output.ts";
import { cut, visible } from "../../framework/visible.ts";
import { resultLines, shortened } from "../../gates/call-text.ts";
import { approveProposal, rejectProposal, whyNotPending } from "../../gates/decide-proposal.ts";
import { targetText } from "../../gates/proposal-card.ts";
import { roomGate, roomGateAccess } from "../../gates/room-gate-access.ts";
import { peerRows, toolRows } from "../peer-rows.ts";
import { type ChatLine, cardOf, learnSecrets } from "./chat-line.ts";
import { type Line, verbs } from "./parse-line.ts";

const linesMax = 500;
const charsMax = 50_000;

type Of<Verb extends Line["verb"]> = Extract<Line, { verb: Verb }>;

/** Does it; throws what goes wrong. */
export async function obey(chat: ChatLine, line: Line): Promise<void> {
  switch (line.verb) {
    case "say":
      return say(chat, line);
    case "peers":
      return peers(chat);
    case "tools":
      return tools(chat, line);
    case "call":
      return call(chat, line);
    case "propose":
      return propose(chat, line);
    case "pending":
      return pending(chat, line);
    case "approve":
      return approve(chat, line);
    case "reject":
      return reject(chat, line);
    case "withdraw":
      return withdraw(chat, line);
    case "help":
      return chat.tell(columns(verbs.map(([usage, about]) => [usage, about])), { event: "help", verbs });
    default:
      return;
  }
}

async function say({ room, tell }: ChatLine, { text }: Of<"say">): Promise<void> {
  const receipt = await room.say(text);
  // The text is on the terminal already, where it was typed.
  tell([], { event: "said", ...receipt });
}

function peers({ room, tell }: ChatLine): void {
  const rows = peerRows(room.peers.map((peer) => peer as object as JsonObject));
  const lines = rows.length === 0 ? ["nobody else is here"] : columns(rows);
  tell(lines, { event: "peers", peers: room.peers });
}

async function tools(chat: ChatLine, { peer }: Of<"tools">): Promise<void> {
  checkPeer(chat, peer);
  const { room, tell, signal } = chat;
  if (room.level !== "full") {
    throw new Failure(
      "you may propose calls here, not ask for tools",
      `/propose ${peer} TOOL JSON REASON, or join with --level full`,
    );
  }
  const found = await room.peer(peer).listTools({ signal });
  if (found.length === 0) await checkTree(chat, peer);
  const lines = found.length === 0 ? [`${peer} has no tools`] : columns(toolRows(found));
  tell(shortened(lines, linesMax, charsMax), { event: "tools", peer, tools: found });
}

async function call(chat: ChatLine, { peer, tool, args }: Of<"call">): Promise<void> {
  checkPeer(chat, peer);
  const { room, output, signal, tell } = chat;
  if (room.level !== "full") {
    throw new Failure(
      `you are ${room.level} here and may not call`,
      `/propose ${peer} ${tool} … asks others to`,
    );
  }
  // What a participant says of its own tools is not trusted, so none of them is known to be harmless. [X0-9-1]
  const question = `call ${visible(tool)} of ${visible(peer)} with ${cut(visible(JSON.stringify(args)), 400)}?`;
  if (!(await chat.confirm(question, { event: "confirm", peer, tool, arguments: args }))) {
    return tell([output.paint("dim", "-- not called")], { event: "not_called", peer, tool });
  }
  const onProgress = progressOf(chat, `${peer} ${tool}`);
  const called = room.peer(peer).callTool(tool, args, { signal, onProgress, propose: "never" });
  const result = await called.catch((error: unknown) => tellWhy(chat, peer, error));
  const lines = shortened(resultLines(result), linesMax, charsMax);
  const isError = result.isError === true;
  tell(
    lines.map((line) => (isError ? output.paint("red", line) : line)),
    { event: "result", peer, tool, result },
  );
}

async function propose(chat: ChatLine, { peer, tool, args, reason }: Of<"propose">): Promise<void> {
  checkPeer(chat, peer);
  const { room, numbers, output, signal, tell } = chat;
  const params = { name: tool, arguments: args };
  const handle = room.propose({ to: peer, method: "tools/call", params, ...(reason && { reason }) });
  // Its end is told as an event; only a proposal that was not even made is a fault of this command.
  await new Promise<void>((resolve, reject) => {
    const stop = new AbortController();
    const finish = (settle: () => void) => {
      stop.abort();
      settle();
    };
    room.addEventListener(
      "proposal",
      ({ detail }) => detail.proposal.id === handle.id && finish(resolve),
      stop,
    );
    handle.result.catch((error: unknown) => finish(() => reject(error)));
    signal.addEventListener("abort", () => finish(resolve), stop);
  });
  const number = numbers.of(handle.id);
  const text = `-- proposal ${number} is made; ${visible(peer)} or anybody of level full can do it`;
  tell([output.paint("yellow", text)], { event: "proposed", number, id: handle.id });
}

async function pending(chat: ChatLine, { id: typed }: Of<"pending">): Promise<void> {
  const { room, tell, numbers } = chat;
  const found = typed === undefined ? room.proposals.pending() : [findProposal(chat, typed)];
  await learnSecrets(chat, found);
  const cards = found.flatMap((proposal) => cardOf(chat, proposal, typed !== undefined));
  tell(cards.length === 0 ? ["nothing is pending"] : cards, {
    event: "pending",
    proposals: found.map((proposal) => ({ number: numbers.of(proposal.id), ...proposal })),
  });
}

async function approve(chat: ChatLine, { id: typed, target, changes }: Of<"approve">): Promise<void> {
  const proposal = findProposal(chat, typed);
  const { room, signal, tell } = chat;
  if (roomGate(room, proposal) !== undefined) {
    if (target !== undefined || changes !== undefined) {
      throw new Failure("a call at a gate is approved exactly as it is", `/approve ${typed} alone`);
    }
    return decideGate(chat, proposal, "approve");
  }
  if (target !== undefined) checkPeer(chat, target);
  const onProgress = progressOf(chat, `proposal ${typed}`);
  const result = await approveProposal(room, proposal, { target, changes, signal, onProgress });
  const lines = shortened(resultLines(result), linesMax, charsMax);
  tell(lines, { event: "result", proposal: proposal.id, result });
}

async function reject(chat: ChatLine, { id: typed, reason }: Of<"reject">): Promise<void> {
  const proposal = findProposal(chat, typed);
  const { room, output, tell } = chat;
  if (roomGate(room, proposal) !== undefined) return decideGate(chat, proposal, "reject", reason);
  const isOver = await rejectProposal(room, proposal, reason);
  const text = `-- ${proposal.proposer} was told; it ends only when ${targetText(proposal)} rejects it`;
  tell(isOver ? [] : [output.paint("dim", text)], { event: "rejected", proposal: proposal.id, isOver });
}

async function withdraw(chat: ChatLine, { id: typed, reason }: Of<"withdraw">): Promise<void> {
  const proposal = findProposal(chat, typed);
  const { room, tell } = chat;
  if (proposal.proposer !== room.id) {
    throw new Failure(`only ${proposal.proposer} can withdraw proposal ${typed}`, "see /pending");
  }
  await room.proposals.withdraw([proposal], reason);
  // The whole room is told that the proposal has ended.
  tell([], { event: "withdrawn", proposal: proposal.id });
}

/** Signed with the key of the person who types; the whole room is told the outcome. */
async function decideGate(
  { room, signer, tell }: ChatLine,
  { id }: Proposal,
  decision: Decision,
  reason?: string,
): Promise<void> {
  const access = roomGateAccess(room);
  const gate = await access.find(id);
  const after = await access.decide(gate.id, await signer(gate, decision, reason));
  tell([], { event: "decided", proposal: id, decision, status: after.status });
}

function findProposal({ room, numbers }: ChatLine, typed: string): Proposal {
  const id = numbers.id(typed);
  const proposal = id === undefined ? undefined : room.proposals.get(id);
  const why = id === undefined ? "there is no proposal with this number or id" : whyNotPending(room, id);
  if (proposal !== undefined && why === undefined) return proposal;
  throw new Failure(`proposal ${typed}: ${why}`, "see /pending");
}

function checkPeer({ room }: ChatLine, id: string): void {
  const ids = room.peers.map((peer) => peer.id);
  if (ids.includes(id) || id === room.id || room.state !== "live") return;
  throw new Failure(`${id} is not here`, suggestion(id, ids) ?? "see /peers");
}

/** A tree has tools, if only its own: who sees none of them has a token that opens none. */
async function checkTree({ room }: ChatLine, peer: string): Promise<void> {
  const { serverInfo } = await room.peer(peer).introduction();
  if (!isObject(serverInfo) || serverInfo.name !== "mcpx") return;
  throw new Failure(
    `your token opens no tools of ${peer}`,
    `mcpx join ${room.topic} --tools GLOB, or mcpx token --tools GLOB makes one that does`,
  );
}

/** An unknown tool of a tree may be one that this token does not open. */
async function tellWhy(chat: ChatLine, peer: string, error: unknown): Promise<never> {
  const { room, signal } = chat;
  const isUnknown = error instanceof Error && "reason" in error && error.reason === "unknown_tool";
  if (isUnknown && (await room.peer(peer).listTools({ signal })).length === 0) await checkTree(chat, peer);
  throw error;
}

function progressOf({ tell }: ChatLine, what: string) {
  return (progress: { progress: number; total?: number; message?: string }) => {
    const { progress: done, total, message } = progress;
    const text = `${what}: ${done}${total === undefined ? "" : ` of ${total}`}${message ? `, ${message}` : ""}`;
    tell([`   ${visible(text).slice(0, 200)}`], { event: "progress", of: what, ...progress });
  };
}

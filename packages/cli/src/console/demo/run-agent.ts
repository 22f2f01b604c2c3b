// The demo's agent: restricted, so that it proposes instead of acting; and it asks the tree for something irreversible.
// It asks once for each thing, and again only when somebody comes who could decide.
import type { Proposal, Room } from "@mcpx/client";
import type { JsonObject } from "@mcpx/protocol";

export interface DemoAgentOptions {
  room: Room;
  robot: string;
  /** Calls a tool of the tree; it waits at a gate. */
  callTree(tool: string, args: JsonObject): Promise<JsonObject>;
  /** What went wrong; the demo goes on. */
  fault(error: unknown): void;
}

interface Wish {
  args: JsonObject;
  reason: string;
}

export const wishes: readonly Wish[] = [
  {
    args: { part: "blue gear", to: "bench", speed: 0.5 },
    reason: "Order A-17 needs the blue gear on the bench. I may only propose: will you let me?",
  },
  {
    args: { part: "blue gear", to: "shelf", speed: 2.5 },
    reason: "The gear is checked. Shall it go to the shelf? I am in a hurry.",
  },
  { args: { part: "offcut", to: "bin", speed: 0.5 }, reason: "Tidying up. That is all for today." },
];

const proposalMs = 300_000;

export function runAgent({ room, robot, callTree, fault }: DemoAgentOptions): void {
  let done = 0;
  const isWaiting = () => room.proposals.pending().some(({ proposer }) => proposer === room.id);

  const propose = () => {
    const wish = wishes[done];
    if (wish === undefined || isWaiting()) return;
    // The outcome is read below, like by every participant.
    room.propose({
      to: robot,
      method: "tools/call",
      params: { name: "move_part", arguments: wish.args },
      reason: wish.reason,
      ttlMs: proposalMs,
    });
  };

  const go = async (proposal: Proposal, word: string) => {
    done += 1;
    await room.say(word);
    if (done === 1) callTree("workshop.cut_sheet", cut).catch(fault);
    if (proposal.status === "pending") await room.proposals.withdraw([proposal]);
    propose();
  };

  room.addEventListener("proposal", ({ detail: { type, proposal, by } }) => {
    if (proposal.proposer !== room.id) return;
    if (type === "answered") go(proposal, "Thank you. Done.").catch(fault);
    if (type === "rejected" || type === "advice") {
      go(proposal, `Understood: ${by ?? "somebody"} rejected it. I leave it.`).catch(fault);
    }
  });
  // What nobody decided about is asked again when there is somebody to ask.
  room.addEventListener("presence", ({ detail: { event, participant } }) => {
    if (event === "join" && participant.kind === "human") propose();
  });
  propose();
}

const cut: JsonObject = { order: "A-17", material: "brass", millimetres: [210, 148.5] };

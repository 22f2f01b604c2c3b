// What the parts of `mcpx join` share: the room, the way to the reader's eyes, and the numbers of proposals.
import type { Proposal, Room } from "@mcpx/client";
import type { JsonObject } from "@mcpx/protocol";
import type { Output } from "../output.ts";
import { proposalCard } from "../proposal-card.ts";

export interface ChatLine {
  readonly room: Room;
  readonly output: Pick<Output, "paint">;
  readonly numbers: ProposalNumbers;
  readonly signal: AbortSignal;
  /** For people: lines that are safe to show. For programs: what they are about. */
  tell(lines: readonly string[], event: JsonObject): void;
}

/**
 * Short names for proposals. Ids are chosen by those who propose: what is short for the eye must be ours, and never
 * mean another proposal later.
 */
export class ProposalNumbers {
  readonly #ids: string[] = [];

  of(id: string): number {
    const index = this.#ids.indexOf(id);
    return index === -1 ? this.#ids.push(id) : index + 1;
  }

  /** The id meant by what was typed. Digits alone are always a number of ours. */
  id(typed: string): string | undefined {
    return /^[0-9]+$/.test(typed) ? this.#ids[Number(typed) - 1] : typed;
  }
}

export function cardOf({ output, numbers }: ChatLine, proposal: Proposal, isWhole = false): string[] {
  const number = numbers.of(proposal.id);
  return proposalCard(proposal, output, {
    label: String(number),
    approve: `/approve ${number}`,
    reject: `/reject ${number} REASON`,
    whole: `/pending ${number}`,
    nowMs: Date.now(),
    isWhole,
  });
}

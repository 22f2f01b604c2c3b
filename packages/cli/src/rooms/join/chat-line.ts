// What the parts of `mcpx join` share: the room, the way to the reader's eyes, and the numbers of proposals.
import { callSecrets, type Proposal, type Room, type ToolLists } from "@mcpx/client";
import type { Decision, JsonObject } from "@mcpx/protocol";
import type { Output } from "../../framework/output.ts";
import type { GateReport } from "../../gates/gate-access.ts";
import { gateCard } from "../../gates/gate-card.ts";
import { proposalCard } from "../../gates/proposal-card.ts";
import { roomGate } from "../../gates/room-gate-access.ts";

export interface ChatLine {
  readonly room: Room;
  readonly output: Pick<Output, "paint">;
  readonly numbers: ProposalNumbers;
  /** What participants serve: the schemas say what is secret. */
  readonly tools: ToolLists;
  readonly signal: AbortSignal;
  /** Signs decisions about gates with the key of who types, who may be asked for its passphrase. */
  signer(gate: GateReport, decision: Decision, reason?: string): Promise<string>;
  /** Asks the person at the terminal; throws where nobody can be asked and `--yes` was not given. */
  confirm(question: string, event: JsonObject): Promise<boolean>;
  /** For people: lines that are safe to show. For programs: what they are about. */
  tell(lines: readonly string[], event: JsonObject): void;
}

/** More than the client remembers proposals. */
const numbersMax = 10_000;

/**
 * Short names for proposals. Ids are chosen by those who propose: what is short for the eye must be ours, and never
 * mean another proposal later.
 */
export class ProposalNumbers {
  readonly #numbers = new Map<string, number>();
  readonly #ids = new Map<number, string>();
  #last = 0;

  of(id: string): number {
    const known = this.#numbers.get(id);
    if (known !== undefined) return known;
    this.#last += 1;
    this.#numbers.set(id, this.#last);
    this.#ids.set(this.#last, id);
    const forgotten = this.#last - numbersMax;
    this.#numbers.delete(this.#ids.get(forgotten) ?? "");
    this.#ids.delete(forgotten);
    return this.#last;
  }

  /** The id meant by what was typed. Digits alone are always a number of this list. */
  id(typed: string): string | undefined {
    return /^[0-9]+$/.test(typed) ? this.#ids.get(Number(typed)) : typed;
  }
}

/** Before its card is shown. */
export async function learnSecrets({ room, tools }: ChatLine, proposals: readonly Proposal[]): Promise<void> {
  const wanted = proposals.flatMap((one) => callSecrets(one, tools.all, room.peers).unlisted);
  await tools.load([...new Set(wanted)]);
}

/** Where arguments are secret, of the call that was proposed and of the one that was made instead. */
export function secretsOf({ room, tools }: Pick<ChatLine, "room" | "tools">, proposal: Proposal): string[] {
  const { called, target } = proposal.fulfilment ?? proposal.lateCall ?? {};
  const calls = [proposal, ...(called && target !== undefined ? [{ ...called, targets: [target] }] : [])];
  return calls.flatMap((one) => callSecrets(one, tools.all, room.peers).places);
}

export function cardOf(
  { room, output, numbers, tools }: ChatLine,
  proposal: Proposal,
  isWhole = false,
): string[] {
  const number = numbers.of(proposal.id);
  const gate = roomGate(room, proposal);
  if (gate !== undefined) {
    const decide = { approve: `/approve ${number} (signs it)`, reject: `/reject ${number} REASON` };
    const [label, open] = [`proposal ${number}`, `/pending ${number}`];
    return gateCard(gate, output, { nowMs: Date.now(), isOpen: isWhole, decide, label, open });
  }
  return proposalCard(proposal, output, {
    label: String(number),
    ways: waysOf(room, proposal, number),
    whole: `/pending ${number}`,
    nowMs: Date.now(),
    isWhole,
    secrets: secretsOf({ room, tools }, proposal),
  });
}

/** What its level lets somebody do about a proposal. */
function waysOf({ id, level }: Room, { proposer, targets }: Proposal, number: number): string[] {
  const reject = `/reject ${number} REASON`;
  if (level === "full") return [`/approve ${number}`, reject];
  if (proposer === id) return [`/withdraw ${number}`];
  return targets.includes(id) ? [reject] : ["somebody of level full decides"];
}

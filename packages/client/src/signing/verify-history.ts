// A room's past, as texts in the order of `seq`: what holds of each envelope, and of the order of them all.
import {
  type ChainFinding,
  SignatureChains,
  type SignatureState,
  type SignatureVerdict,
} from "@mcpx/protocol";
import { gatewayId } from "../core/room-envelope.ts";
import type { KeyBook } from "./key-book.ts";
import { verifyText } from "./verify-text.ts";

export interface HistoryReport {
  /** How many envelopes of participants there are in each state. */
  readonly counts: Readonly<Partial<Record<SignatureState, number>>>;
  /** Envelopes that are `invalid`, `key_changed` or `stripped`; the first 1 000. */
  readonly faults: readonly SignatureVerdict[];
  /** What is out of order, repeated, forked, or missing at the end; the first 1 000. */
  readonly findings: readonly ChainFinding[];
  /** No fault and no finding: as far as signatures tell, nothing was altered, stripped, moved or left out. */
  readonly isSound: boolean;
}

const faultStates: ReadonlySet<SignatureState> = new Set(["invalid", "key_changed", "stripped"]);
const listedMax = 1_000;

/**
 * Verifies a history, oldest first, without asking anybody.
 * @example const { isSound } = await verifyHistory(lines, "kitchen", createKeyBook(keys));
 */
export async function verifyHistory(
  texts: Iterable<string> | AsyncIterable<string>,
  topic: string,
  book: KeyBook,
): Promise<HistoryReport> {
  const chains = new SignatureChains();
  const faults: SignatureVerdict[] = [];
  const findings: ChainFinding[] = [];
  const counts: Partial<Record<SignatureState, number>> = {};
  const note = (finding: ChainFinding) => findings.length < listedMax && findings.push(finding);
  for await (const text of texts) {
    const verdict = await verifyText(text, topic, book);
    const isFault = faultStates.has(verdict.state);
    if (isFault && faults.length < listedMax) faults.push(verdict);
    // The gateway's own notices are not signed, and not history.
    if (verdict.from === gatewayId && !isFault) continue;
    counts[verdict.state] = (counts[verdict.state] ?? 0) + 1;
    const finding = chains.add(verdict);
    // Whether a number stays missing is known at the end.
    if (finding !== undefined && finding.type !== "missing") note(finding);
  }
  for (const gap of chains.missing()) note({ type: "missing", ...gap });
  return { counts, faults, findings, isSound: faults.length + findings.length === 0 };
}

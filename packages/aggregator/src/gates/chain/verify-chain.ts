// Whether a chain of approvers holds, entry by entry: each follows from the one before, and was allowed at that moment
// by those who approved then. Pure but for the arithmetic of signatures. [B-KEY-2]
import { digestOf, type GateTerms, isMcpxError } from "@mcpx/protocol";
import { checkProof } from "../proofs/proofs.ts";
import { type AuthorityState, signaturesNeeded, signersOf, weakens, withChanges } from "./authority-state.ts";
import {
  authorityIdentity,
  type ChainEntry,
  ChainFault,
  type ChainHead,
  entriesMax,
  entryHash,
  entryText,
  readEntry,
  signedArguments,
} from "./chain-entry.ts";
import { sentencesOf } from "./change-words.ts";

/** What is told of an entry. */
export interface ListedEntry {
  readonly n: number;
  readonly at: string;
  readonly kind: ChainEntry["kind"];
  readonly hash: string;
  /** What it has changed, in sentences. */
  readonly what: readonly string[];
  /** Who has signed it. */
  readonly by: readonly string[];
}

export interface Chain {
  readonly state: AuthorityState;
  readonly head: ChainHead | undefined;
  readonly entries: readonly ListedEntry[];
}

export const emptyChain: Chain = { state: new Map(), head: undefined, entries: [] };

/** Throws `ChainFault` at the first entry that is not valid. `id`: of the aggregator it is about. */
export async function extendChain(chain: Chain, texts: readonly string[], id: string): Promise<Chain> {
  let last = chain;
  for (const text of texts) {
    const entry = readEntry(text, (last.head?.n ?? -1) + 1);
    const by = entry.kind === "signed" ? await signersIn(last, entry, id) : [];
    last = follow(last, entry, by);
  }
  return last;
}

/** The same for an entry that nobody signs. */
export function extendUnsigned(chain: Chain, entry: ChainEntry): Chain {
  if (entry.kind === "signed") throw new ChainFault(entry.n, "an entry of the kind signed needs signatures");
  return follow(chain, entry, []);
}

function follow(chain: Chain, entry: ChainEntry, by: readonly string[]): Chain {
  const { n, at, kind, changes, previous } = entry;
  const { state, head, entries } = chain;
  if (n !== (head?.n ?? -1) + 1)
    throw new ChainFault(n, "its number n does not follow that of the entry before it");
  if (n >= entriesMax) throw new ChainFault(n, `there are ${entriesMax} entries already`);
  if (previous !== (head?.hash ?? null))
    throw new ChainFault(n, "its field previous is not the hash of the entry before it");
  checkKind(chain, entry);
  const hash = entryHash(entryText(entry));
  const listed = { n, at, kind, hash, what: sentencesOf(state, changes), by };
  return { state: withChanges(state, changes), head: { n, hash }, entries: [...entries, listed] };
}

function checkKind({ state, head }: Chain, { n, kind, changes }: ChainEntry): void {
  if (kind === "signed") return;
  const isOpen = signaturesNeeded(state) === 0;
  const refuse = (why: string) => new ChainFault(n, why);
  if (kind === "adopted") {
    const isFirst = head === undefined;
    const isConfig =
      !state.has("rules") && !changes.some(({ key }) => /^(approver\/|bridge\/|panic$)/.test(key));
    if (!isFirst && !isConfig) throw refuse("the kind adopted is only for what existed before the chain");
  }
  if (kind === "open" && !isOpen) throw refuse("there was an approver, and none has signed it");
  if (kind === "tightened" && changes.some((change) => weakens(state, change))) {
    throw refuse("it makes gates weaker, and no approver has signed it");
  }
  if (kind === "reset" && changes.some(({ key, value }) => !key.startsWith("approver/") || value !== null)) {
    throw refuse("a reset may only remove approvers");
  }
}

/** The names of enough of those who approved at that moment; throws where fewer have signed. */
async function signersIn(chain: Chain, entry: ChainEntry, id: string): Promise<string[]> {
  const { n, terms, proofs = [] } = entry;
  const { state, head } = chain;
  if (terms === undefined) throw new ChainFault(n, "its signed statement is missing");
  const what = sentencesOf(state, entry.changes);
  const digest = await digestOf(signedArguments(entry.changes, { head, what }));
  if (terms.arguments_digest !== digest)
    throw new ChainFault(n, "another change was signed, or this one for another place in the chain");
  if (terms.aggregator_id !== id) throw new ChainFault(n, "it was signed for another gateway");
  if (terms.server?.identity !== authorityIdentity)
    throw new ChainFault(n, "its signed statement is about a call, not about a change");
  const needed = signaturesNeeded(state);
  const signers = signersOf(state);
  const seen = new Map<string, string>();
  for (const proof of proofs) {
    const { by, thumbprint } = await proven(proof, terms, signers, entry);
    seen.set(by, thumbprint);
  }
  const keys = new Set(seen.values());
  if (keys.size < Math.max(1, needed) || seen.size !== keys.size) {
    throw new ChainFault(n, `${keys.size} of ${Math.max(1, needed)} approvers have signed it`);
  }
  return [...seen.keys()];
}

async function proven(
  proof: string,
  terms: GateTerms,
  signers: ReturnType<typeof signersOf>,
  { n, at }: ChainEntry,
): Promise<{ by: string; thumbprint: string }> {
  try {
    const nobody = { principal: undefined, thumbprints: [] };
    const checked = await checkProof(proof, terms, signers, { requester: nobody, now: Date.parse(at) });
    if (checked.statement.decision !== "approve") throw new ChainFault(n, "it was rejected");
    return checked;
  } catch (error) {
    if (isMcpxError(error))
      throw new ChainFault(n, `a signature is not valid (${error.detail ?? error.code})`);
    throw error;
  }
}

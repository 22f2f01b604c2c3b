// The chain of approvers of one data directory, read, verified and appended to: by the gateway that runs there, and by
// commands beside it. What needs no signature is written at once; the rest is given back. [B-KEY-2]
import type { Audit, Clock } from "@mcpx/host";
import { isMcpxError, McpxError } from "@mcpx/protocol";
import {
  type AuthorityChange,
  type AuthorityState,
  changesBetween,
  isSame,
  signaturesNeeded,
  weakens,
} from "./authority-state.ts";
import { type ChainEntry, ChainFault, type EntryKind, entryHash, entryText } from "./chain-entry.ts";
import type { ChainStore } from "./chain-store.ts";
import { type Chain, emptyChain, extendChain, extendUnsigned } from "./verify-chain.ts";

type Wanted = readonly AuthorityChange[];

export interface KeptChain {
  /** Called with all that others have changed, whoever noticed it first; until it is set, that is kept for it. */
  onGrown: ((changes: readonly AuthorityChange[]) => Promise<void>) | undefined;
  now(): Chain;
  /** Takes over what others have appended. Throws `ChainFault` where what is stored does not follow from what was. */
  refresh(): Promise<void>;
  /**
   * Writes what nobody has to sign, and gives back what somebody has to. A command and the gateway may see the same
   * approvers at once: where the other was faster, what it wrote is taken over, and `wanted` is asked again.
   */
  settle(wanted: (state: AuthorityState) => Wanted | Promise<Wanted>): Promise<AuthorityChange[]>;
  /** Throws `ChainFault` where it is not valid. */
  sign(signed: Pick<ChainEntry, "changes" | "terms" | "proofs">): Promise<void>;
  /** Puts all approvers out. Says whether there was any. */
  reset(): Promise<boolean>;
}

export interface ChainParts {
  store: ChainStore;
  aggregatorId: string;
  clock: Clock;
  audit: Audit;
  /** The name in the audit for entries that nobody signs. */
  actor: string;
}

/** How often somebody else may have been faster. */
const triesMax = 10;

/** Throws `ChainFault` where it is not valid, or is shorter than the audit says that it was. */
export async function openChain(parts: ChainParts): Promise<KeptChain> {
  const { store, aggregatorId, clock } = parts;
  let chain = await extendChain(emptyChain, await store.texts(0), aggregatorId);
  await checkAgainstAudit(parts);
  /** What it said before others appended to it, until that is told. */
  let untold: AuthorityState | undefined;
  const takeTurn = oneAfterTheOther();
  const place = () => ({
    n: (chain.head?.n ?? -1) + 1,
    at: new Date(clock.now()).toISOString(),
    previous: chain.head?.hash ?? null,
  });
  const append = async (entry: ChainEntry, next: Chain) => {
    if (!(await store.append(entry.n, entryText(entry))))
      throw new McpxError("id_conflict", "the chain has grown meanwhile");
    chain = next;
    await record(parts, next);
  };
  const write = async (kind: Exclude<EntryKind, "signed">, changes: readonly AuthorityChange[]) => {
    const entry: ChainEntry = { ...place(), kind, changes };
    await append(entry, extendUnsigned(chain, entry));
  };
  const settle: KeptChain["settle"] = async (wanted) => {
    const changes = (await wanted(chain.state)).filter(
      ({ key, value }) => !isSame(chain.state.get(key), value),
    );
    const kind = unsignedKind(chain, changes);
    if (kind !== undefined) {
      if (changes.length > 0) await write(kind, changes);
      return [];
    }
    const free = changes.filter((change) => !weakens(chain.state, change));
    if (free.length > 0) await write("tightened", free);
    return changes.filter((change) => !free.includes(change));
  };
  const refresh = async () => {
    const length = (chain.head?.n ?? -1) + 1;
    if ((await store.length()) === length) return;
    await checkUnchanged(store, chain);
    const { state } = chain;
    chain = await extendChain(chain, await store.texts(length), aggregatorId);
    untold ??= state;
  };
  /** Out of turn: the listener may write to the chain itself. */
  const tell = async () => {
    if (untold === undefined || kept.onGrown === undefined) return;
    const before = untold;
    untold = undefined;
    try {
      await kept.onGrown(changesBetween(before, chain.state));
    } catch (error) {
      untold ??= before;
      throw error;
    }
  };
  const inTurn = async <T>(work: () => Promise<T>): Promise<T> => {
    const result = await takeTurn(work);
    await tell();
    return result;
  };
  const settleAfterOthers: KeptChain["settle"] = async (wanted) => {
    for (let tries = 0; ; tries += 1) {
      try {
        return await settle(wanted);
      } catch (error) {
        if (!isMcpxError(error) || error.code !== "id_conflict" || tries === triesMax) throw error;
        await refresh();
      }
    }
  };
  const kept: KeptChain = {
    onGrown: undefined,
    now: () => chain,
    refresh: () => inTurn(refresh),
    settle: (wanted) => inTurn(() => settleAfterOthers(wanted)),
    sign: (signed) =>
      inTurn(async () => {
        const entry: ChainEntry = { ...place(), kind: "signed", ...signed };
        await append(entry, await extendChain(chain, [entryText(entry)], aggregatorId));
      }),
    reset: () =>
      inTurn(async () => {
        const changes = approversIn(chain.state).map((key) => ({ key, value: null }));
        if (changes.length > 0) await write("reset", changes);
        return changes.length > 0;
      }),
  };
  return kept;
}

/** What one of us writes is what the next of us sees. */
function oneAfterTheOther(): <T>(work: () => Promise<T>) => Promise<T> {
  let turns: Promise<unknown> = Promise.resolve();
  return (work) => {
    const done = turns.then(work);
    turns = done.catch(() => {});
    return done;
  };
}

export function approversIn(state: AuthorityState): string[] {
  return [...state.keys()].filter((key) => key.startsWith("approver/"));
}

/** Why all of it may be written without a signature; `undefined` where some of it may not. */
function unsignedKind(
  { state, head }: Chain,
  changes: readonly AuthorityChange[],
): "adopted" | "open" | undefined {
  const isConfig = changes.some(({ key }) => key === "rules") && !state.has("rules");
  const hasOthers = changes.some(({ key }) => /^(approver\/|bridge\/|panic$)/.test(key));
  if (head === undefined || (isConfig && !hasOthers)) return "adopted";
  return signaturesNeeded(state) === 0 ? "open" : undefined;
}

/** Our last entry is still there, as it was. */
async function checkUnchanged(store: ChainStore, { head }: Chain): Promise<void> {
  if (head === undefined) return;
  const text = await store.text(head.n);
  if (text === undefined) throw new ChainFault(head.n, "it is gone from the store");
  if (entryHash(text) !== head.hash) throw new ChainFault(head.n, "it is another one in the store");
}

async function record({ audit, actor }: ChainParts, { head, entries }: Chain): Promise<void> {
  const last = entries.at(-1);
  if (head === undefined || last === undefined) return;
  const detail = { n: head.n, head: head.hash, what: last.what.slice(0, 5).map((one) => one.slice(0, 160)) };
  await audit.recordNow({ action: `approvers.${last.kind}`, actor: last.by.join(", ") || actor, detail });
}

/** The audit has its own chain: an intruder who shortens or changes one of them has to change both. */
async function checkAgainstAudit({ store, audit }: ChainParts): Promise<void> {
  for (const { detail } of await audit.list({ action: "approvers.*", limit: 1 })) {
    if (typeof detail !== "object" || typeof detail.n !== "number") continue;
    const text = await store.text(detail.n);
    if (text === undefined) throw new ChainFault(detail.n, "the audit has it, and the store does not");
    if (entryHash(text) !== detail.head)
      throw new ChainFault(detail.n, "it is another one than the audit has");
  }
}

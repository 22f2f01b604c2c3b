// Who counts as an approver: of those who are enrolled, nobody who could be taken for another, and with a chain only
// those in it. Read when a proof is looked at, so that who comes or goes does so at once.
import {
  type AnchorKey,
  type AnchorSource,
  type ApproverStore,
  type AuthorityChange,
  type AuthorityState,
  anchorKeys,
  anchorOf,
  approverClash,
  approverMarks,
  approverValue,
  type CounterKeeper,
  changesBetween,
  type Enrolled,
  isSame,
  type KeptChain,
  type NewApprover,
  pressKeys,
} from "@mcpx/aggregator";
import type { Logger } from "@mcpx/host";
import type { JsonObject } from "@mcpx/protocol";
import { openLocalState } from "../files/local-store.ts";
import type { Home } from "../files/state-place.ts";
import { Failure } from "../framework/failure.ts";

export interface Approvers {
  keys: readonly AnchorKey[];
  /** The same, as the chain of approvers has them. */
  state: AuthorityState;
  /** What is wrong with those who do not count. */
  faults: readonly string[];
}

/** `known`: keys of the configuration, which nobody can be enrolled over. */
export function judgeApprovers(
  { approvers, unreadable }: Enrolled,
  known: readonly AnchorKey[] = [],
  keepCounter?: CounterKeeper,
): Approvers {
  const read: Candidate[] = [];
  const keys: AnchorKey[] = [];
  const state = new Map<string, unknown>();
  const faults = unreadable.map(({ place, why }) => `${place}: ${why}`);
  const noting = (place: string, work: () => void) => {
    try {
      work();
    } catch (error) {
      faults.push(`${place}: ${(error as Error).message}`);
    }
  };
  for (const { approver, since, place } of approvers) {
    noting(place, () => {
      const value = approverValue(approver);
      const own = anchorKeys([anchorOf(approver)], keepCounter);
      read.push(...own.map((key) => ({ key, value, since, place })));
    });
  }
  const holders = Map.groupBy(
    read.flatMap((one) => approverMarks(one.key).map((mark) => ({ mark, one }))),
    ({ mark }) => mark,
  );
  for (const one of read) {
    noting(one.place, () => {
      checkNew(one.key, known);
      const rivals = approverMarks(one.key).flatMap((mark) => holders.get(mark) ?? []);
      // Of approvers that clash the earliest counts; where two came at the same time, neither does.
      const earlier = rivals.filter((rival) => rival.one !== one && rival.one.since <= one.since);
      checkNew(
        one.key,
        earlier.map((rival) => rival.one.key),
      );
      keys.push(one.key);
      state.set(approverKey(one.key.name), one.value);
    });
  }
  return { keys, state, faults };
}

/** Of a data directory, wherever its state is. Makes nothing. */
export async function readApprovers(home: Home): Promise<Approvers> {
  await using opened = new AsyncDisposableStack();
  const { approvers } = await openLocalState(home, opened);
  return judgeApprovers(await (await approvers()).list());
}

export function approverKey(name: string): string {
  return `approver/${name}`;
}

interface Candidate {
  key: AnchorKey;
  value: JsonObject;
  since: number;
  place: string;
}

/** Throws where the name, the key or the credential is somebody's already. */
export function checkNew(fresh: NewApprover, others: readonly AnchorKey[]): void {
  const clash = approverClash(fresh, others);
  if (clash !== undefined) throw new Failure(clash);
}

export interface ApproverWatch {
  store: ApproverStore;
  /** The anchors of the configuration. */
  known: readonly AnchorKey[];
  log: Logger;
  /** Those who are in it count, and nobody else. Without one, all who are enrolled do. [B-KEY-2] */
  chain?: KeptChain | undefined;
  /** What an approver has to sign before it counts. */
  wait?: (changes: readonly AuthorityChange[]) => void;
}

/** All keys that count. What is wrong is logged when it appears. */
export function watchApprovers(watch: ApproverWatch): AnchorSource {
  const { store, known, log, chain, wait } = watch;
  let keys = known;
  let seen: { enrolled: Enrolled; head: string | undefined } | undefined;
  const headNow = () => chain?.now().head?.hash;
  const isSeen = (enrolled: Enrolled) => seen?.enrolled === enrolled && seen.head === headNow();
  const judge = (enrolled: Enrolled) => judgeApprovers(enrolled, known, store.keepCounter);
  const countingIn = ({ keys: enrolled, state }: Approvers): readonly AnchorKey[] => {
    const people = enrolled.filter(({ name }) => isInChain(chain, state, approverKey(name)));
    const all = [...known, ...people];
    return chain === undefined ? all : [...all, ...pressKeys(chain.now().state, all)];
  };
  const look = async () => {
    let enrolled = await store.list();
    if (isSeen(enrolled)) return keys;
    if (chain !== undefined) {
      // Where a command writes to the chain at this moment, approvers are read again after it.
      const held = await settleApprovers(chain, async () => {
        enrolled = await store.list();
        return judge(enrolled).state;
      });
      wait?.(held);
    }
    const judged = judge(enrolled);
    for (const fault of judged.faults) log.warn({ fault }, "ignoring invalid approver");
    keys = countingIn(judged);
    seen = { enrolled, head: headNow() };
    return keys;
  };
  let looking: Promise<unknown> = Promise.resolve();
  return {
    known() {
      // An approver who is removed is no longer valid, also where nobody has looked since; who comes has to be written
      // down first.
      const enrolled = store.known();
      if (!isSeen(enrolled)) keys = countingIn(judge(enrolled));
      return keys;
    },
    now() {
      const looked = looking.then(look);
      looking = looked.catch(() => {});
      return looked;
    },
  };
}

/** Writes what nobody has to sign, and gives back the rest. */
async function settleApprovers(
  chain: KeptChain,
  wanted: () => Promise<AuthorityState>,
): Promise<AuthorityChange[]> {
  return await chain.settle(async (state) => {
    const signed = new Map([...state].filter(([key]) => key.startsWith("approver/")));
    return changesBetween(signed, await wanted());
  });
}

/** The same, of all who are enrolled. */
export async function settleEnrolled(chain: KeptChain, approvers: ApproverStore): Promise<AuthorityChange[]> {
  return await settleApprovers(chain, async () => judgeApprovers(await approvers.list()).state);
}

function isInChain(chain: KeptChain | undefined, read: AuthorityState, key: string): boolean {
  return chain === undefined || isSame(chain.now().state.get(key), read.get(key));
}

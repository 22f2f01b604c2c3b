// Fair turns on the one thread everybody shares. Requests, frames, messages of registrants and the output of the
// tree's own processes pass here. Their time is measured and charged to an account: that of its principal,
// or of its address before there is one.
//
// In each turn of the event loop an account may work for a slice at once; what it wants beyond that waits. Behind the
// poll phase of each turn one piece of what waits is done: of the account that has used least of late. So a busy
// account makes others wait for one piece, not for all it has; and alone it has the whole thread. Some pieces cannot be
// made short: a caller that holds the thread for long rests afterwards while others are about, so that most of what
// others want meets no such piece at all.

/**
 * Work of one account within one turn of the loop before the rest of it waits: while it is alone, and while others are
 * about. An envelope needs some four turns from its socket to its ack, and each of them is as long as such a slice.
 */
const sliceMs = 0.5;
const sharedSliceMs = 0.15;
/** Who works for longer than this at once rests for `restFactor` times as long, where others are about. */
const longMs = 1;
const restFactor = 3;
const restMsMax = 100;
/** A caller that worked so recently counts as active. */
const aboutMs = 100;
/** Use counts for half as much after this long. */
const halfLifeMs = 1_000;
/** Accounts with less use than this, and nothing under way, are forgotten. */
const forgottenMs = 0.01;
const sweepMs = 5_000;

type Work = () => void;

/** Who pays for work. One for each key, as long as it has any. */
export class Account {
  readonly key: string;
  /** What waits for its turn, oldest first. */
  readonly waiting: Work[] = [];
  /** Things that keep it known: open sockets, for example. */
  holds = 0;
  /** The turn of the loop in which it worked last, and for how long in that turn. */
  turn = -1;
  turnMs = 0;
  /** Nothing of it is done before this time. */
  restsUntil = 0;
  #usedMs = 0;
  #usedAt = 0;

  constructor(key: string) {
    this.key = key;
  }

  /** Recent use, as seen at a time. */
  usedMs(now: number): number {
    return this.#usedMs * 2 ** ((this.#usedAt - now) / halfLifeMs);
  }

  charge(ms: number, now: number, turn: number): void {
    this.#usedMs = this.usedMs(now) + ms;
    this.#usedAt = now;
    this.turnMs = this.turn === turn ? this.turnMs + ms : ms;
    this.turn = turn;
  }
}

export interface Turns {
  /** Turns of the loop in which there was work. */
  readonly count: number;
  account(key: string): Account;
  /** Does the work now where the account has its turn, else later; says which. What it causes up to the end of the
   * callback it runs in, microtasks included, is charged. */
  run(account: Account, work: Work): boolean;
  /** `undefined` where the account has its turn; else a promise of it. What follows is charged. */
  turn(account: Account): Promise<void> | undefined;
  /** As `turn`, but never the one it has: what it has begun comes to its end first. */
  nextTurn(account: Account): Promise<void>;
  /** What follows, up to the end of this callback of the loop, is this account's. */
  charge(account: Account): void;
  /** Time that was not measured because it passed before it was known whose it is. */
  add(account: Account, ms: number): void;
}

const soon = Promise.resolve();

export function createTurns(monotonic: () => number = () => performance.now()): Turns {
  const accounts = new Map<string, Account>();
  const behind = new Set<Account>();
  let turn = 0;
  let isLooking = false;
  let current: Account | undefined;
  let since = 0;
  let isEnding = false;
  let sweptAt = monotonic();
  /** The two that worked last, and when. */
  let last: { account: Account; at: number } | undefined;
  let lastButOne: typeof last;
  let waking: NodeJS.Timeout | undefined;

  function settle(): void {
    if (current === undefined) return;
    const now = monotonic();
    current.charge(now - since, now, turn);
    if (last?.account !== current) lastButOne = last;
    last = { account: current, at: now };
    if (current.turnMs > longMs && areOthersAbout(current, now)) {
      current.restsUntil = now + Math.min(current.turnMs * restFactor, restMsMax);
    }
    current = undefined;
  }

  function areOthersAbout(account: Account, now: number): boolean {
    const other = last?.account === account ? lastButOne : last;
    return other !== undefined && now - other.at < aboutMs;
  }

  /** In this turn of the loop it has worked for as long as it may at once. */
  function isSpent(account: Account): boolean {
    if (account.turn !== turn || account.turnMs < sharedSliceMs) return false;
    return account.turnMs >= sliceMs || areOthersAbout(account, monotonic());
  }

  // A tick that a microtask asks for runs when no microtask is left: then the callback's work is done.
  const end = () => {
    isEnding = false;
    settle();
  };
  const afterMicrotasks = () => process.nextTick(end);

  function charge(account: Account): void {
    if (current !== account) {
      settle();
      current = account;
      since = monotonic();
    }
    if (!isEnding) {
      isEnding = true;
      void soon.then(afterMicrotasks);
    }
    look();
  }

  /** Once in each turn of the loop in which there is work. */
  function look(): void {
    if (isLooking) return;
    isLooking = true;
    setImmediate(nextTurn);
  }

  function nextTurn(): void {
    isLooking = false;
    settle();
    turn += 1;
    const now = monotonic();
    if (behind.size > 0) serve(now);
    if (now - sweptAt > sweepMs) sweep(now);
  }

  function serve(now: number): void {
    const account = leastUsed(behind, now);
    if (account === undefined) {
      wake(now);
      return;
    }
    const work = account.waiting.shift();
    if (account.waiting.length === 0) behind.delete(account);
    charge(account);
    work?.();
    look();
  }

  /** When the first of those that rest may go on. */
  function wake(now: number): void {
    const soonest = Math.min(...[...behind].map(({ restsUntil }) => restsUntil));
    clearTimeout(waking);
    waking = setTimeout(look, Math.ceil(soonest - now));
  }

  function hasTurn(account: Account): boolean {
    if (account.waiting.length > 0) return false;
    if (account.restsUntil > 0 && account.restsUntil > monotonic()) return false;
    if (current === account) settleInto(account);
    return !isSpent(account);
  }

  /** What it has done in this very callback counts already. */
  function settleInto(account: Account): void {
    settle();
    charge(account);
  }

  function wait(account: Account, work: Work): void {
    account.waiting.push(work);
    behind.add(account);
    look();
  }

  function sweep(now: number): void {
    sweptAt = now;
    for (const [key, account] of accounts) {
      const isIdle = account.holds === 0 && account.waiting.length === 0 && account !== current;
      if (isIdle && account.usedMs(now) < forgottenMs) accounts.delete(key);
    }
  }

  return {
    get count() {
      return turn;
    },
    account(key) {
      const known = accounts.get(key);
      if (known !== undefined) return known;
      const account = new Account(key);
      accounts.set(key, account);
      return account;
    },
    run(account, work) {
      if (!hasTurn(account)) {
        wait(account, work);
        return false;
      }
      charge(account);
      work();
      return true;
    },
    turn(account) {
      if (!hasTurn(account)) return new Promise((resolve) => wait(account, resolve));
      charge(account);
      return undefined;
    },
    nextTurn: (account) => new Promise((resolve) => wait(account, resolve)),
    charge,
    add(account, ms) {
      account.charge(ms, monotonic(), turn);
    },
  };
}

/** Those that wait are few: an account has one place among them, however much it wants. None where all of them rest. */
function leastUsed(accounts: ReadonlySet<Account>, now: number): Account | undefined {
  let least: Account | undefined;
  let leastMs = Number.POSITIVE_INFINITY;
  for (const account of accounts) {
    if (account.restsUntil > now) continue;
    const ms = account.usedMs(now);
    if (ms < leastMs || least === undefined) {
      least = account;
      leastMs = ms;
    }
  }
  return least;
}

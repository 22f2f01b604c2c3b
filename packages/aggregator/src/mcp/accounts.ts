// Who has how much under way: bounds count for principals, not for their connections or tokens.
import { type ByteLedger, type Hold, type Principal, principalKey } from "@mcpx/host";

export interface Account {
  /** The same for every token of one principal, and for nobody else. */
  readonly key: string;
  requests: number;
  listens: number;
  sessions: number;
  parked: number;
  /** One of its tokens is an admin's. */
  isAdmin: boolean;
  /** Memory that is held for it, wherever it came in. Throws `rate_limited`. */
  hold(bytes: number): Hold;
}

export interface Accounts {
  of(principal: Principal): Account;
  /** Forgets those with nothing under way. */
  sweep(): void;
}

export function createAccount(ledger: ByteLedger, key: string): Account {
  const account: Account = {
    key,
    requests: 0,
    listens: 0,
    sessions: 0,
    parked: 0,
    isAdmin: false,
    hold: (bytes) => ledger.hold(account, bytes),
  };
  return account;
}

export function createAccounts(ledger: ByteLedger): Accounts {
  const byKey = new Map<string, Account>();
  // A token that was verified before comes as the same object; then there is no key to make.
  let byPrincipal = new WeakMap<Principal, Account>();

  function find(principal: Principal): Account {
    const key = principalKey(principal);
    const account = byKey.get(key) ?? createAccount(ledger, key);
    account.isAdmin ||= principal.admin;
    byKey.set(key, account);
    byPrincipal.set(principal, account);
    return account;
  }

  return {
    of: (principal) => byPrincipal.get(principal) ?? find(principal),
    sweep() {
      let isForgotten = false;
      for (const [key, { requests, listens, sessions, parked }] of byKey) {
        if (requests + listens + sessions + parked > 0) continue;
        byKey.delete(key);
        isForgotten = true;
      }
      // Else two accounts of one principal could be in use.
      if (isForgotten) byPrincipal = new WeakMap();
    },
  };
}

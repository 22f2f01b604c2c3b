// What of a room is shown, as its address says it, and the address of what is shown. Pure.
import { type Family, type Filter, families } from "../store/timeline.ts";

const usual: readonly Family[] = ["chat", "calls", "proposals", "presence"];
const none = "nothing";

export function filterOf({ search = "", show, thread }: Readonly<Record<string, string>>): Filter {
  const named = show === undefined ? usual : families.filter((one) => show.split(" ").includes(one));
  return { families: new Set(named), search: search.toLowerCase(), thread };
}

/** Only what changes; what is usual need not be said. */
export function queryOf(change: Partial<Filter>): Record<string, string> {
  return {
    ...(change.search !== undefined && { search: change.search }),
    ...("thread" in change && { thread: change.thread ?? "" }),
    ...(change.families !== undefined && { show: showOf(change.families) }),
  };
}

function showOf(shown: ReadonlySet<Family>): string {
  if (shown.size === usual.length && usual.every((one) => shown.has(one))) return "";
  return shown.size === 0 ? none : families.filter((one) => shown.has(one)).join(" ");
}

export function isSameFilter(a: Filter, b: Filter): boolean {
  return a.search === b.search && a.thread === b.thread && showOf(a.families) === showOf(b.families);
}

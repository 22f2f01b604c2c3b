// What the kit says of an implementation: one verdict for each transcript, case or vector file.

export interface Verdict {
  part: "rooms" | "tree" | "devices";
  /** The requirements it is about, as in spec/ledger.json. */
  ids: readonly string[];
  title: string;
  outcome: "holds" | "differs" | "not tried";
  /** What differs and where, or why it was not tried. */
  detail?: string;
}

export interface Summary {
  holds: readonly string[];
  differs: readonly string[];
  notTried: readonly string[];
}

/** By requirement: it holds where everything that was tried of it holds, and differs where anything does. */
export function summarise(verdicts: readonly Verdict[]): Summary {
  const ids = [...new Set(verdicts.flatMap((verdict) => verdict.ids))].sort();
  const has = (id: string, outcome: Verdict["outcome"]) =>
    verdicts.some((verdict) => verdict.outcome === outcome && verdict.ids.includes(id));
  const differs = ids.filter((id) => has(id, "differs"));
  const holds = ids.filter((id) => has(id, "holds") && !has(id, "differs"));
  const notTried = ids.filter((id) => !has(id, "holds") && !has(id, "differs"));
  return { holds, differs, notTried };
}

/** Titles begin with the ids: `[X0-3-1] [X0-3-2] What is said`. */
export function readTitle(text: string): { ids: string[]; title: string } {
  const ids: string[] = [];
  let title = text;
  while (title.startsWith("[") && title.includes("] ")) {
    const end = title.indexOf("] ");
    ids.push(title.slice(1, end));
    title = title.slice(end + 2);
  }
  return { ids, title };
}

// Tools as a server lists them, looked at by each scanner that they have before they are shown to anybody. What was judged
// is remembered for as long as the definition is the same.
import { hash } from "node:crypto";
import type { Entry } from "../catalogue/catalogue.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { askScanner, recordScan, scannersFor } from "./ask-scanner.ts";
import { type DefinitionVerdict, readDefinitionVerdict } from "./scanner.ts";

export interface ScannedTools {
  /** By the server's own names: a scanner wants an operator to look first. */
  readonly suspected: ReadonlySet<string>;
  /** A scanner with `whenDown: "hold"` did not judge these. */
  readonly unjudged: ReadonlySet<string>;
  /** As clients see it. */
  shown(entry: Entry): Entry;
}

const atOnce = 8;
const judgedMax = 20_000;
const nothing: ScannedTools = { suspected: new Set(), unjudged: new Set(), shown: (entry) => entry };

export type DefinitionScan = (state: TreeState, entries: readonly Entry[]) => Promise<ScannedTools>;

/** Of one tree; it remembers what was judged. */
export function createDefinitionScan(): DefinitionScan {
  const judged = new Map<string, DefinitionVerdict>();
  return (state, entries) => scanDefinitions(state, entries, judged);
}

async function scanDefinitions(
  state: TreeState,
  entries: readonly Entry[],
  judged: Map<string, DefinitionVerdict>,
): Promise<ScannedTools> {
  if (state.scanners.length === 0) return nothing;
  const suspected = new Set<string>();
  const unjudged = new Set<string>();
  const masked = new Map<string, Readonly<Record<string, string>>>();
  /** Scanners that did not answer: one list waits for each of them once. */
  const down = new Set<string>();
  const waiting = [...entries];
  const work = async () => {
    for (let entry = waiting.shift(); entry !== undefined; entry = waiting.shift()) {
      const verdict = await judge(state, entry, { down, judged });
      if (verdict === undefined) unjudged.add(entry.name);
      else if (verdict.verdict === "hold") suspected.add(entry.name);
      else if (verdict.verdict === "mask") masked.set(entry.name, verdict.definition);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return {
    suspected,
    unjudged,
    shown(entry) {
      const words = masked.get(entry.name);
      if (words === undefined) return entry;
      return { ...entry, item: { ...entry.item, ...words }, listed: entry.item };
    },
  };
}

/** `undefined` where a scanner with `whenDown: "hold"` did not judge. */
async function judge(
  state: TreeState,
  entry: Entry,
  { down, judged }: { down: Set<string>; judged: Map<string, DefinitionVerdict> },
): Promise<DefinitionVerdict | undefined> {
  const scanners = scannersFor(state, entry);
  if (scanners.length === 0) return { verdict: "pass" };
  const key = hash("sha256", JSON.stringify([entry.server.name, entry.fullName, entry.item]));
  const known = judged.get(key);
  if (known !== undefined) return known;
  let definition = entry.item;
  let words: Readonly<Record<string, string>> = {};
  for (const scanner of scanners) {
    const question = {
      ...{ type: "tool.definition" as const, tool: entry.fullName, server: entry.server.name },
      definition,
    };
    const said = down.has(scanner.name)
      ? undefined
      : await askScanner(state, scanner, question, readDefinitionVerdict);
    if (said === undefined || "why" in said) {
      down.add(scanner.name);
      if (scanner.whenDown === "hold") return undefined;
      if (said !== undefined)
        recordScan(state, scanner, entry, { verdict: "unjudged", reason: said.why, about: "definition" });
      continue;
    }
    const { verdict } = said;
    if (verdict.verdict === "pass") continue;
    recordScan(state, scanner, entry, { ...verdict, about: "definition" });
    if (verdict.verdict === "hold") return keep(judged, key, verdict);
    words = { ...words, ...verdict.definition };
    definition = { ...definition, ...words };
  }
  const isMasked = Object.keys(words).length > 0;
  const end = isMasked
    ? { verdict: "mask" as const, definition: words, reason: "" }
    : { verdict: "pass" as const };
  return scanners.some(({ name }) => down.has(name)) ? end : keep(judged, key, end);
}

function keep(
  judged: Map<string, DefinitionVerdict>,
  key: string,
  verdict: DefinitionVerdict,
): DefinitionVerdict {
  if (judged.size >= judgedMax) judged.clear();
  judged.set(key, verdict);
  return verdict;
}

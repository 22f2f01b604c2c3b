// A question to a scanner, with its deadline: what it says, or why that is nothing. Which scanners a tool has.
import { matchesTool } from "@mcpx/protocol";
import type { Entry } from "../catalogue/catalogue.ts";
import { ownSegment } from "../names/own-segment.ts";
import type { TreeState } from "../servers/tree-state.ts";
import type { Scanner, ScanQuestion } from "./scanner.ts";

/** The scanners that look at this tool and its results. */
export function scannersFor(
  { scanners, rootSegment }: Pick<TreeState, "scanners" | "rootSegment">,
  { server, canonical }: Pick<Entry, "server" | "canonical">,
): Scanner[] {
  // Results that the gateway makes itself hold no text of a server; results that were held come here too, looked at.
  if (server.segment === ownSegment) return [];
  return scanners.filter(
    (one) =>
      one.server !== server.name && one.tools.some((glob) => matchesTool(rootSegment, glob, canonical)),
  );
}

/** `read` gives `undefined` for an answer that cannot be read. */
export async function askScanner<Verdict>(
  state: TreeState,
  scanner: Scanner,
  question: ScanQuestion,
  read: (said: unknown) => Verdict | undefined,
): Promise<{ verdict: Verdict } | { why: string }> {
  const signal = AbortSignal.any([AbortSignal.timeout(scanner.deadlineMs), state.closing.signal]);
  let why = "its answer cannot be read";
  try {
    const verdict = read(await inTime(scanner.ask(question, signal, state), signal));
    if (verdict !== undefined) return { verdict };
  } catch (error) {
    why = signal.aborted ? `it has not answered within ${scanner.deadlineMs} ms` : messageOf(error);
  }
  const { name: place, whenDown } = scanner;
  state.log.warn({ scanner: place, tool: question.tool, why, whenDown }, "scanner did not judge");
  return { why };
}

export function recordScan(
  { audit }: Pick<TreeState, "audit">,
  { name }: Scanner,
  { fullName }: Pick<Entry, "fullName">,
  { verdict, reason, about }: { verdict: string; reason: string; about?: "definition" },
): void {
  const detail = { ...(reason !== "" && { why: reason }), ...(about && { about }) };
  audit?.record({
    action: `scan.${verdict}`,
    actor: `scanner:${name}`,
    subject: fullName,
    ...(Object.keys(detail).length > 0 && { detail }),
  });
}

/** Whatever the scanner does with the signal. */
function inTime<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

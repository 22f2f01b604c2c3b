// A result on its way back, looked at by each scanner that its tool has, one after the other.
import { confirmationOf, isObject, type JsonObject, McpxError, matchesTool } from "@mcpx/protocol";
import type { Entry } from "../catalogue/catalogue.ts";
import { ownSegment } from "../names/own-segment.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { readVerdict, type Scanner, type Verdict } from "./scanner.ts";

export interface Scanned {
  result: JsonObject;
  /** Somebody has to look at it first: the scanner that says so, and why. */
  hold?: { by: string; reason: string };
}

/** The scanners that look at this tool's results. */
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

/** Throws `result_withheld` for what nobody can look at. */
export async function scanResult(state: TreeState, tool: Entry, result: JsonObject): Promise<Scanned> {
  const scanners = state.scanners.length === 0 ? [] : scannersFor(state, tool);
  // A question of the server, and the gate of a tree below, are no results yet.
  if (scanners.length === 0 || result.resultType === "input_required" || confirmationOf(result) !== undefined)
    return { result };
  if (isObject(result.task) || typeof result.taskId === "string") {
    const detail = `${tool.fullName} gave a task instead of a result, and its scanners see results only`;
    throw new McpxError("result_withheld", detail);
  }
  const scanned: Scanned = { result };
  for (const scanner of scanners) {
    const verdict = await verdictOf(state, scanner, tool, scanned.result);
    if (verdict.verdict === "pass") continue;
    record(state, scanner, tool, verdict);
    if (verdict.verdict === "mask") scanned.result = masked(scanned.result, verdict.result);
    else scanned.hold ??= { by: `the scanner ${scanner.name}`, reason: verdict.reason };
  }
  return scanned;
}

async function verdictOf(
  state: TreeState,
  scanner: Scanner,
  tool: Entry,
  result: JsonObject,
): Promise<Verdict> {
  const question = {
    ...{ type: "tool.result" as const, tool: tool.fullName, server: tool.server.name },
    result,
  };
  const signal = AbortSignal.any([AbortSignal.timeout(scanner.deadlineMs), state.closing.signal]);
  let why = "its answer cannot be read";
  try {
    const verdict = readVerdict(await inTime(scanner.ask(question, signal, state), signal));
    if (verdict !== undefined) return verdict;
  } catch (error) {
    why = signal.aborted ? `it has not answered within ${scanner.deadlineMs} ms` : messageOf(error);
  }
  const { name: place, whenDown } = scanner;
  state.log.warn({ scanner: place, tool: tool.fullName, why, whenDown }, "scanner did not judge");
  if (whenDown === "hold") return { verdict: "hold", reason: "it did not judge" };
  record(state, scanner, tool, { verdict: "unjudged", reason: why });
  return { verdict: "pass" };
}

/** Whatever the scanner does with the signal. */
function inTime<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
    work.then(resolve, reject);
  });
}

/** What a caller sees of it, and nothing more: what a tree says beside it is not the scanner's to say. */
function masked(
  { _meta, resultType }: JsonObject,
  { content, structuredContent, isError }: JsonObject,
): JsonObject {
  return {
    ...(resultType !== undefined && { resultType }),
    content,
    ...(isObject(structuredContent) && { structuredContent }),
    ...(isError === true && { isError }),
    ...(_meta !== undefined && { _meta }),
  };
}

function record(
  { audit }: TreeState,
  { name }: Scanner,
  { fullName }: Entry,
  { verdict, reason }: { verdict: string; reason: string },
): void {
  audit?.record({
    action: `scan.${verdict}`,
    actor: `scanner:${name}`,
    subject: fullName,
    ...(reason !== "" && { detail: { why: reason } }),
  });
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

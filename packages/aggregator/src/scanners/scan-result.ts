// A result on its way back, looked at by each scanner that its tool has, one after the other.
import { confirmationOf, isObject, type JsonObject, McpxError } from "@mcpx/protocol";
import type { Entry } from "../catalogue/catalogue.ts";
import type { TreeState } from "../servers/tree-state.ts";
import { askScanner, recordScan, scannersFor } from "./ask-scanner.ts";
import { readVerdict, type Scanner, type Verdict } from "./scanner.ts";

export interface Scanned {
  result: JsonObject;
  /** Somebody has to look at it first: the scanner that says so, and why. */
  hold?: { by: string; reason: string };
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
    recordScan(state, scanner, tool, verdict);
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
  const said = await askScanner(state, scanner, question, readVerdict);
  if ("verdict" in said) return said.verdict;
  if (scanner.whenDown === "hold") return { verdict: "hold", reason: "it did not judge" };
  recordScan(state, scanner, tool, { verdict: "unjudged", reason: said.why });
  return { verdict: "pass" };
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

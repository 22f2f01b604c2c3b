// What looks at the results of tools before their callers do: a webhook, or a tool of a server.
import { isObject, type JsonObject } from "@mcpx/protocol";
import type { TreeState } from "../servers/tree-state.ts";

export interface Scanner {
  readonly name: string;
  /** Globs over canonical names: whose results it looks at. */
  readonly tools: readonly string[];
  readonly deadlineMs: number;
  /** What happens to a result that the scanner has not judged in time, or whose verdict cannot be read. */
  readonly whenDown: "pass" | "hold";
  /** The server that judges, whose own results it does not look at. */
  readonly server?: string | undefined;
  /** Resolves to what it says, whatever that is; rejects where it cannot be asked. */
  ask(question: ScanQuestion, signal: AbortSignal, state: TreeState): Promise<unknown>;
}

interface ScanQuestion {
  readonly type: "tool.result";
  /** Canonical. */
  readonly tool: string;
  readonly server: string;
  readonly result: JsonObject;
}

export type Verdict =
  | { readonly verdict: "pass" }
  /** The caller gets `result` instead. */
  | { readonly verdict: "mask"; readonly result: JsonObject; readonly reason: string }
  /** The caller gets the result only after an approver has released it. */
  | { readonly verdict: "hold"; readonly reason: string };

const reasonCharsMax = 200;

/** `undefined` where it is none: what nobody understands is no pass. */
export function readVerdict(said: unknown): Verdict | undefined {
  if (!isObject(said)) return undefined;
  const { verdict, result, reason } = said;
  const why = typeof reason === "string" ? reason.slice(0, reasonCharsMax).toWellFormed() : "";
  if (verdict === "pass") return { verdict };
  if (verdict === "hold") return { verdict, reason: why };
  if (verdict !== "mask" || !isObject(result) || !Array.isArray(result.content)) return undefined;
  return { verdict, result, reason: why };
}

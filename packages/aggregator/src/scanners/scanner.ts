// What looks at tools before they are shown, and at their results before their callers see them: a webhook, or a tool
// of a server.
import { isObject, type JsonObject } from "@mcpx/protocol";
import type { TreeState } from "../servers/tree-state.ts";

export interface Scanner {
  readonly name: string;
  /** Globs over canonical names: the tools it looks at. */
  readonly tools: readonly string[];
  readonly deadlineMs: number;
  /** What happens to a result or a tool that the scanner has not judged in time, or whose verdict cannot be read. */
  readonly whenDown: "pass" | "hold";
  /** The server that judges, whose own tools it does not look at. */
  readonly server?: string | undefined;
  /** Resolves to what it says, whatever that is; rejects where it cannot be asked. */
  ask(question: ScanQuestion, signal: AbortSignal, state: TreeState): Promise<unknown>;
}

interface AboutTool {
  /** Canonical. */
  readonly tool: string;
  readonly server: string;
}

export type ScanQuestion = AboutTool &
  (
    | { readonly type: "tool.result"; readonly result: JsonObject }
    /** As its server lists it. */
    | { readonly type: "tool.definition"; readonly definition: JsonObject }
  );

export type DefinitionVerdict =
  | { readonly verdict: "pass" }
  /** These texts instead. */
  | {
      readonly verdict: "mask";
      readonly definition: Readonly<Record<string, string>>;
      readonly reason: string;
    }
  | { readonly verdict: "hold"; readonly reason: string };

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
  const { verdict, result } = said;
  const why = reasonOf(said);
  if (verdict === "pass") return { verdict };
  if (verdict === "hold") return { verdict, reason: why };
  if (verdict !== "mask" || !isObject(result) || !Array.isArray(result.content)) return undefined;
  return { verdict, result, reason: why };
}

/** The texts of a tool that a model reads first; a tool with other arguments would be another tool. */
const texts = ["title", "description"];

/** The same of a tool itself. */
export function readDefinitionVerdict(said: unknown): DefinitionVerdict | undefined {
  if (!isObject(said)) return undefined;
  const { verdict, definition } = said;
  const reason = reasonOf(said);
  if (verdict === "pass") return { verdict };
  if (verdict === "hold") return { verdict, reason };
  if (verdict !== "mask" || !isObject(definition)) return undefined;
  const given = Object.entries(definition);
  const isRead = given.every(([key, text]) => texts.includes(key) && typeof text === "string");
  return isRead && given.length > 0
    ? { verdict, definition: definition as Record<string, string>, reason }
    : undefined;
}

function reasonOf({ reason }: JsonObject): string {
  return typeof reason === "string" ? reason.slice(0, reasonCharsMax).toWellFormed() : "";
}

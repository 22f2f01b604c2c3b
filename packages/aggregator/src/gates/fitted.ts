// What the tree says in a tool's place, in a form that the tool's callers take. Pure.
import { confirmationAsError, isObject, type JsonObject } from "@mcpx/protocol";
import type { Entry } from "../catalogue/catalogue.ts";

/** What we say instead of a tool is not of the form the tool promises. */
export function fitted({ item }: Pick<Entry, "item">, answer: JsonObject): JsonObject {
  if (item.outputSchema === undefined || !isOurs(answer.structuredContent)) return answer;
  return confirmationAsError(answer);
}

/** Of an outcome without a result, or of a call that waits. */
function isOurs(content: unknown): boolean {
  return (
    isObject(content) && typeof content.confirmation_id === "string" && typeof content.status === "string"
  );
}

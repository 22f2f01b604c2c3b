// A person who agrees to everything and keeps every default.
import { isObject, type JsonObject } from "@mcpx/protocol";
import type { Question } from "../../../packages/aggregator/src/mcp/exchange.ts";
import { valueFor } from "./value-for.ts";

export function answerQuestion({ method, params }: Question): JsonObject {
  if (method !== "elicitation/create") throw new Error(`nobody answers ${method}`);
  const content = valueFor(isObject(params?.requestedSchema) ? params.requestedSchema : {});
  return { action: "accept", content };
}

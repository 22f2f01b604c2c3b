// What an operator has set for tools, for tests.
import type { Overrides, ToolOverride } from "../catalogue/overrides.ts";

export function overridesOf(tools: Readonly<Record<string, ToolOverride>>): Overrides {
  return { tools: new Map(Object.entries(tools)) };
}

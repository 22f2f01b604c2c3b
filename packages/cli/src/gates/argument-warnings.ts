// What people at a terminal are told of arguments before they decide. Pure.
import { isRightToLeft, valueWarnings } from "@mcpx/protocol";

export function argumentWarnings(value: unknown): string[] {
  const isTurned = isRightToLeft(JSON.stringify(value) ?? "");
  return [
    ...valueWarnings(value, "the arguments"),
    ...(isTurned
      ? [
          "the arguments have letters that run from right to left: this terminal may show a line in another order",
        ]
      : []),
  ].map((warning) => `⚠ ${warning}`);
}

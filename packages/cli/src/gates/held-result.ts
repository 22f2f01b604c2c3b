// A result that is held, as lines for the person who decides about it: texts as texts, and everything else of it as
// JSON, so that nothing hides. Pure.
import { isObject, type JsonObject } from "@mcpx/protocol";
import { hideSecrets, secretsIn } from "../framework/secrets.ts";
import { visible } from "../framework/visible.ts";
import { jsonLines, shortened } from "./call-text.ts";
import type { GateReport } from "./gate-access.ts";

const linesMax = 200;
const charsMax = 20_000;

/** Bounded, and says so where there is more. */
export function heldLines({ outcome }: GateReport, isOpen: boolean): string[] {
  if (outcome === undefined) return ["it cannot be shown to you: you have asked for it"];
  const secrets = isOpen ? [] : secretsIn(outcome);
  const lines = outcome.result === undefined ? jsonLines(outcome) : resultParts(outcome.result);
  const shown = shortened(lines, linesMax, charsMax);
  const isCut = shown.at(-1) !== lines.at(-1) || shown.length !== lines.length;
  return [
    ...shown.map((line) => hideSecrets(line, secrets)),
    ...(secrets.length === 0 ? [] : ["what looks like a secret is hidden: --secrets shows it"]),
    ...(isCut ? ["you have not seen all of it: --json shows it"] : []),
  ];
}

function resultParts({ content, ...rest }: JsonObject): string[] {
  const items = Array.isArray(content) ? content : [];
  const texts = items.filter(isPlainText).flatMap(({ text }) => text.split(/\r\n|\n/).map(visible));
  const others = items.filter((item) => !isPlainText(item));
  const more = { ...rest, ...(others.length > 0 && { content: others }) };
  return [...texts, ...(Object.keys(more).length === 0 ? [] : jsonLines(more))];
}

/** With nothing beside its text. */
function isPlainText(item: unknown): item is { type: "text"; text: string } {
  return (
    isObject(item) && item.type === "text" && typeof item.text === "string" && Object.keys(item).length === 2
  );
}

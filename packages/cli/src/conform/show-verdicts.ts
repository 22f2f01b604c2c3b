// Verdicts of the conformance kit on a terminal, as they come, and what they come to.
import { type Summary, summarise, type Verdict } from "@mcpx/conform";
import type { Context } from "../framework/command.ts";
import type { Output } from "../framework/output.ts";
import { visible } from "../framework/visible.ts";

const marks = { holds: "✓", differs: "✗", "not tried": "·" } as const;
const styles = { holds: "green", differs: "red", "not tried": "dim" } as const;

/** Exit code 1 where anything differs, or where nothing could be tried. */
export async function showVerdicts(
  { options, output }: Pick<Context, "options" | "output">,
  verdicts: AsyncIterable<Verdict>,
): Promise<number> {
  const seen: Verdict[] = [];
  for await (const verdict of verdicts) {
    seen.push(verdict);
    if (!options.json) for (const line of verdictLines(verdict, output)) output.line(line);
  }
  const summary = summarise(seen);
  if (options.json) output.json({ ...summary, verdicts: seen });
  else showSummary(summary, seen, output);
  return summary.differs.length > 0 || summary.holds.length === 0 ? 1 : 0;
}

function verdictLines({ outcome, ids, title, detail }: Verdict, output: Output): string[] {
  const head = `${output.paint(styles[outcome], marks[outcome])} ${title} ${output.paint("dim", ids.join(" "))}`;
  const lines = detail === undefined ? [] : detail.split("\n").map((line) => `    ${visible(line)}`);
  return [head, ...lines];
}

function showSummary({ holds, differs, notTried }: Summary, seen: readonly Verdict[], output: Output): void {
  const count = (outcome: Verdict["outcome"]) => seen.filter((verdict) => verdict.outcome === outcome).length;
  output.line();
  output.line(
    `${count("holds")} of ${seen.length} hold, ${count("differs")} differ, ${count("not tried")} were not tried.`,
  );
  output.line(
    `Requirements: ${holds.length} hold, ${differs.length} differ, ${notTried.length} were not tried.`,
  );
  if (differs.length > 0) output.line(output.paint("red", `Differ: ${differs.join(" ")}`));
}

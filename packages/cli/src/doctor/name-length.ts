// Names that clients with fewer characters get shortened: they work, but are hard to read.
import { renderNames } from "@mcpx/aggregator";
import { type Check, type Finding, some, warning } from "./finding.ts";

export const nameLength: Check = {
  name: "names",
  async run({ survey }) {
    return judgeNames((await survey()).flatMap(({ tools }) => tools.map(({ name }) => name)));
  },
};

export function judgeNames(names: readonly string[]): Finding[] {
  for (const [dialect, charsMax] of [
    ["safe", 64],
    ["strict", 48],
  ] as const) {
    // One at a time: together, names may be marked for other reasons too.
    const cut = names.filter(
      (name) => (renderNames([name], dialect).get(name)?.length ?? 0) < rendered(name),
    );
    if (cut.length === 0) continue;
    const text = `too long for clients that take ${charsMax} characters, and shortened there: ${some(cut, 3)}`;
    return [warning("names", text, 'give their server a shorter "segment" in mcpx.json')];
  }
  return [];
}

function rendered(name: string): number {
  return name.replaceAll(".", "__").length;
}

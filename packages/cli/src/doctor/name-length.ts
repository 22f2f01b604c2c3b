// Names that clients with fewer characters get shortened: they work, but are hard to read.
import { renderedCharsMax } from "@mcpx/aggregator";
import { type Check, type Finding, some, warning } from "./finding.ts";

export const nameLength: Check = {
  name: "names",
  async run({ survey }) {
    return judgeNames((await survey()).flatMap(({ tools }) => tools.map(({ name }) => name)));
  },
};

export function judgeNames(names: readonly string[]): Finding[] {
  for (const charsMax of [renderedCharsMax.safe, renderedCharsMax.strict]) {
    const cut = names.filter((name) => renderedChars(name) > charsMax);
    if (cut.length === 0) continue;
    const text = `too long for clients that take ${charsMax} characters, and shortened there: ${some(cut, 3)}`;
    return [warning("names", text, 'give their server a shorter "segment" in mcpx.json')];
  }
  return [];
}

function renderedChars(name: string): number {
  return name.replaceAll(".", "__").length;
}

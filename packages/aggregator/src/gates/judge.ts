// Whether a call is sent, waits or is denied: by the operator's rules, else by its tool's annotation. [AX-11.3-1]
import { cautious } from "@mcpx/protocol";
import type { Entry } from "../catalogue/catalogue.ts";
import type { TreeState } from "../servers/tree-state.ts";
import type { Gatekeeper } from "./gatekeeper.ts";
import { classify, type Verdict } from "./rules.ts";
import { whoseWord } from "./whose-word.ts";

export function judge(
  { rootSegment: root }: Pick<TreeState, "rootSegment">,
  gates: Gatekeeper,
  tool: Entry,
  given: unknown,
): Verdict {
  const { rules, isPanic, unannotated, quorum } = gates;
  const { server, canonical, capability = cautious } = tool;
  return classify({
    tool: canonical,
    root,
    capability,
    isAnnotated: !["assumed", "not_believed"].includes(whoseWord(tool)),
    arguments: given,
    rules,
    unannotated: server.unannotated ?? unannotated,
    quorum,
    isPanic: isPanic && !isLookingAround(tool),
  });
}

/** The tree's own tools that only read reach no server, and an operator needs them most in a panic. */
function isLookingAround({ server, capability = cautious }: Entry): boolean {
  return server.origin.kind === "built-in" && capability.mutable === false;
}

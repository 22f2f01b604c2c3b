// How the gate would judge a call, also of a tool that is not listed now.
import { cautious, type JsonObject, withoutRoot } from "@mcpx/protocol";
import type { Entry } from "../catalogue/catalogue.ts";
import { withFixed } from "../catalogue/overrides.ts";
import type { Gatekeeper } from "../gates/gatekeeper.ts";
import { judge } from "../gates/judge.ts";
import { classify, type Verdict } from "../gates/rules.ts";
import type { TreeState } from "../servers/tree-state.ts";

/** `entry` is the tool of that name, where there is one. */
export function judgeByName(
  state: TreeState,
  gates: Gatekeeper,
  name: string,
  entry: Entry | undefined,
  given: JsonObject,
): Verdict {
  if (entry !== undefined) {
    const { fixed } = entry;
    const { arguments: sent = {} } = fixed ? withFixed({ arguments: given }, fixed) : { arguments: given };
    return judge(state, gates, entry, sent);
  }
  const { rootSegment: root } = state;
  const { rules, unannotated, quorum, isPanic } = gates;
  const said = {
    tool: withoutRoot(root, name),
    root,
    capability: cautious,
    isAnnotated: false,
    arguments: given,
  };
  return classify({ ...said, rules, unannotated, quorum, isPanic });
}
